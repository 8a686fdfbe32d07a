#include "data/images.h"

#include <cassert>
#include <cstddef>

namespace trainscope::data {

void read_pixels(std::span<const std::uint8_t> pixels, const SampleShape& shape,
                 const Normalization& normalization, std::span<float> values) {
  assert(std::ssize(values) == shape.values() && pixels.size() == values.size());
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = i / plane;
    values[i] = (static_cast<float>(pixels[i]) / 255 - normalization.mean[channel]) /
                normalization.std[channel];
  }
}

void ImageDataset::read(std::int64_t index, std::span<float> values, std::span<std::int64_t>,
                        std::span<std::int64_t> targets) const {
  const auto image = static_cast<std::size_t>(index);
  assert(index >= 0 && image < images_.labels.size() && targets.size() == 1);
  const std::span pixels(images_.pixels);
  read_pixels(pixels.subspan(image * values.size(), values.size()), shape_, normalization_, values);
  targets[0] = images_.labels[image];
}

}  // namespace trainscope::data
