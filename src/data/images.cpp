#include "data/images.h"

#include <cassert>
#include <cstddef>

namespace trainscope::data {

void read_image(const LabelledImages& images, const SampleShape& shape,
                const Normalization& normalization, std::int64_t index, std::span<float> values,
                std::span<std::int64_t> targets) {
  const auto image = static_cast<std::size_t>(index);
  assert(index >= 0 && image < images.labels.size());
  assert(std::ssize(values) == shape.values() && targets.size() == 1);
  const std::uint8_t* pixel = images.pixels.data() + image * values.size();
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = i / plane;
    values[i] = (static_cast<float>(pixel[i]) / 255 - normalization.mean[channel]) /
                normalization.std[channel];
  }
  targets[0] = images.labels[image];
}

void ImageDataset::read(std::int64_t index, std::span<float> values, std::span<std::int64_t>,
                        std::span<std::int64_t> targets) const {
  read_image(images_, shape_, normalization_, index, values, targets);
}

}  // namespace trainscope::data
