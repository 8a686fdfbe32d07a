// The data set `digits`: 28 x 28 images like those of handwritten digits, drawn, never read.
//
// 10,000 samples to train with and 2,000 to test with. Which digit, the way it is written, slant,
// size, wobble, pen and noise of a sample come from (seed, split, index) alone.
#pragma once

#include <cstdint>
#include <mutex>

#include "data/images.h"

namespace trainscope::data {

// Rendered whole with the first read (about a quarter of a second), then kept: 8 MB.
class DigitsDataset : public Dataset {
 public:
  DigitsDataset(Split split, std::uint64_t seed);

  const SampleShape& shape() const override { return shape_; }
  std::int64_t size() const override;
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override;

 private:
  Split split_;
  std::uint64_t seed_;
  SampleShape shape_;
  mutable std::once_flag rendered_;
  mutable LabelledImages images_;
};

}  // namespace trainscope::data
