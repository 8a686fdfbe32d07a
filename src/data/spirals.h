// The data set `spirals`: points of a plane on three arms that wind about each other.
//
// A sample is (x, y), about -1 to 1 (two channels of 1 x 1), and its arm, 0 to 2: 3,000 to train
// with and 600 to test with. No straight line parts the arms, so a model must bend space to do so.
#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace trainscope::data {

class SpiralsDataset : public Dataset {
 public:
  SpiralsDataset(Split split, std::uint64_t seed);

  const SampleShape& shape() const override { return shape_; }
  std::int64_t size() const override;
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override;

 private:
  Split split_;
  std::uint64_t seed_;
  SampleShape shape_;
};

}  // namespace trainscope::data
