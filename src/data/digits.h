// The data set `digits`: 28 x 28 images like those of handwritten digits, drawn, never read.
//
// 10,000 samples to train with and 2,000 to test with. Which digit, the way it is written, slant,
// size, wobble, pen and noise of a sample come from (seed, split, index) alone.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "data/images.h"

namespace trainscope::data {

// A sample is drawn when it is read first (25 us), then kept: 8 MB when all are.
class DigitsDataset : public Dataset {
 public:
  DigitsDataset(Split split, std::uint64_t seed);

  const SampleShape& shape() const override { return shape_; }
  std::int64_t size() const override;
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override;

 private:
  void draw_sample(std::int64_t index, std::uint8_t* pixels, std::uint8_t& label) const;

  Split split_;
  std::uint64_t seed_;
  SampleShape shape_;
  // By sample; pixels and labels are those of samples that are drawn.
  std::unique_ptr<std::once_flag[]> drawn_;
  std::unique_ptr<std::uint8_t[]> pixels_, labels_;
};

}  // namespace trainscope::data
