// One sample with room of its own, to compare and to look into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace trainscope::test {

struct Sample {
  std::vector<float> values;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> targets;

  bool operator==(const Sample&) const = default;
};

inline Sample read_sample(const data::Dataset& dataset, std::int64_t index) {
  const data::SampleShape& shape = dataset.shape();
  Sample sample{std::vector<float>(static_cast<std::size_t>(shape.values())),
                std::vector<std::int64_t>(static_cast<std::size_t>(shape.tokens), -1),
                std::vector<std::int64_t>(static_cast<std::size_t>(shape.targets), -1)};
  dataset.read(index, sample.values, sample.tokens, sample.targets);
  return sample;
}

}  // namespace trainscope::test
