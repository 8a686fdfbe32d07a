// The weights of ranks that share out a model's layers, and runs beside one another.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "training/training_run.h"

namespace trainscope::test {

// A parameter's numbers as they lie in the whole: of each run a part from every rank.
inline std::vector<float> whole_of(TrainingRun& run, program::Index parameter, std::size_t ranks) {
  const program::Initial& initial = run.program().buffers[parameter].initial;
  const auto part = [&](std::size_t rank) {
    const host::Results values = run.numbers(rank).values(parameter);
    return std::vector<float>(values.begin(), values.end());
  };
  if (!initial.by_rank) return part(0);
  std::vector<float> whole;
  const std::size_t length = part(0).size() / static_cast<std::size_t>(initial.runs);
  for (std::int64_t i = 0; i < initial.runs; ++i)
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::vector<float> own = part(rank);
      const auto from = own.begin() + i * static_cast<std::ptrdiff_t>(length);
      whole.insert(whole.end(), from, from + static_cast<std::ptrdiff_t>(length));
    }
  return whole;
}

inline std::vector<float> cut_weights(TrainingRun& run, int ranks) {
  std::vector<float> all;
  for (const program::Index parameter : run.parameters()) {
    const std::vector<float> one = whole_of(run, parameter, static_cast<std::size_t>(ranks));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// What every rank has whole is the same on the first and the last.
inline void check_same_where_whole(TrainingRun& run, int ranks) {
  int whole = 0;
  for (const program::Index parameter : run.parameters()) {
    if (run.program().buffers[parameter].initial.by_rank) continue;
    INFO(run.program().buffers[parameter].name);
    const host::Results first = run.numbers(0).values(parameter);
    const host::Results last = run.numbers(static_cast<std::size_t>(ranks) - 1).values(parameter);
    CHECK(std::equal(first.begin(), first.end(), last.begin(), last.end()));
    ++whole;
  }
  CHECK(whole > 0);
}

inline double largest_difference_of_losses(const TrainingRun& a, const TrainingRun& b) {
  const std::vector<double> left = a.losses(), right = b.losses();
  REQUIRE(left.size() == right.size());
  REQUIRE(left.size() > 4);
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

}  // namespace trainscope::test
