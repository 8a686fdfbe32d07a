// The weights of ranks that keep parts of them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "training/training_run.h"

namespace trainscope::test {

// The parameters, put together from the parts of so many ranks, behind a first one, `apart` from
// one another.
inline std::vector<float> whole_weights(TrainingRun& run, int ranks, int first = 0, int apart = 1) {
  constexpr std::string_view kPart = ", this rank's part";
  std::vector<float> all;
  const auto& buffers = run.program().buffers;
  for (program::Index part = 0; part < buffers.size(); ++part) {
    if (!buffers[part].name.ends_with(kPart)) continue;
    if (buffers[part].role != program::Role::kParameter) continue;
    const std::string name = buffers[part].name.substr(0, buffers[part].name.size() - kPart.size());
    const auto whole = std::ranges::find(buffers, name, &program::Buffer::name);
    REQUIRE(whole != buffers.end());
    const std::size_t end = all.size() + static_cast<std::size_t>(whole->elements());
    for (int i = 0, rank = first; i < ranks; ++i, rank += apart) {
      const host::Results values = run.numbers(static_cast<std::size_t>(rank)).values(part);
      all.insert(all.end(), values.begin(), values.end());
    }
    REQUIRE(all.size() >= end);
    all.resize(end);
  }
  REQUIRE_FALSE(all.empty());
  return all;
}

// Without a batch norm's moments, which FSDP leaves to each rank.
inline std::vector<float> trained_weights(TrainingRun& run) {
  std::vector<float> all;
  for (const program::Index parameter : run.parameters()) {
    if (run.program().buffers[parameter].name.find(".running_") != std::string::npos) continue;
    const host::Results values = run.numbers().values(parameter);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace trainscope::test
