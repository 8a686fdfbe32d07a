// Images as bytes with a label each, and how they become the values of samples.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace trainscope::data {

struct LabelledImages {
  std::vector<std::uint8_t> pixels;  // image by image, in the order of a sample's values
  std::vector<std::uint8_t> labels;  // below the number of classes
};

// A value is (pixel / 255 - mean) / std of its channel, as torchvision's Normalize computes it.
struct Normalization {
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

void read_pixels(std::span<const std::uint8_t> pixels, const SampleShape& shape,
                 const Normalization& normalization, std::span<float> values);

// Images that are all there.
class ImageDataset : public Dataset {
 public:
  ImageDataset(const SampleShape& shape, const Normalization& normalization, LabelledImages images)
      : shape_(shape), normalization_(normalization), images_(std::move(images)) {}

  const SampleShape& shape() const override { return shape_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(images_.labels.size()); }
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override;

 private:
  SampleShape shape_;
  Normalization normalization_;
  LabelledImages images_;
};

}  // namespace trainscope::data
