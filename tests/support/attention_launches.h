// A small language model of one block, and what its attention launches, for tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/config.h"
#include "train/build.h"

namespace trainscope::test {

// Of one sequence, for each head.
inline constexpr double kLength = 128, kWidth = 32, kHeads = 4;

// Of one block, one step.
inline program::Program gpt(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"model.name=gpt-mini", "data.name=text",  "model.blocks=1",
                               "model.seq_len=128",   "model.width=128", "model.heads=4",
                               "loop.evaluate=false", "steps=1"};
  all.insert(all.end(), more.begin(), more.end());
  const program::Config config = config_of(all);
  return train::build_program(config, train::machine_of(config));
}

// One of a phase's launches, and whether it is of the call before.
struct Launched {
  const program::Operation* operation;
  bool same_operator;
};

inline std::vector<Launched> launched(const program::Program& program, program::Phase phase) {
  std::vector<Launched> launches;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action))
        if (command.phase == phase)
          launches.push_back({&program.operations[launch->operation], launch->same_operator});
  return launches;
}

// Attention's own: from the one after the projection's, or the copy of its gradient, to the one
// that names it.
inline std::vector<Launched> attention(const program::Program& program, program::Phase phase) {
  std::vector<Launched> all = launched(program, phase);
  const auto last = std::find_if(all.begin(), all.end(), [](const Launched& one) {
    return std::holds_alternative<program::Attention>(one.operation->function);
  });
  REQUIRE(last != all.end());
  const auto first =
      std::find_if(std::make_reverse_iterator(last), all.rend(), [](const Launched& one) {
        return !std::holds_alternative<std::monostate>(one.operation->function) ||
               !one.operation->parts.empty();
      }).base();
  return {first, last + 1};
}

inline std::vector<std::string> frameworks(const std::vector<Launched>& launches) {
  std::vector<std::string> names;
  for (const Launched& one : launches) names.push_back(one.operation->framework);
  return names;
}

}  // namespace trainscope::test
