// What an optimizer's step takes of memory beside its state: torch/optim/adam.py and sgd.py, whose
// foreach way makes lists of copies, and whose loop one parameter's after another.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "program/program.h"
#include "support/config.h"
#include "train/build.h"

using namespace trainscope;
using test::Settings;

namespace {

struct Copies {
  std::int64_t most = 0;  // bytes at once
  std::int64_t left = 0;  // at the end
};

// Of parameters, under names that end so.
Copies copies_in(const Settings& settings, const std::vector<std::string>& names) {
  const program::Config config = test::config_of(settings);
  const program::Program program = train::build_program(config, train::machine_of(config));
  const auto bytes_of = [&](program::Index buffer) {
    const program::Buffer& one = program.buffers[buffer];
    const bool is_copy = std::ranges::any_of(
        names, [&](const std::string& name) { return one.name.ends_with(name); });
    return is_copy ? one.bytes : 0;
  };
  Copies copies;
  for (const program::Command& command : program.threads.front().commands) {
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
      copies.left += bytes_of(alloc->buffer);
    if (const auto* free = std::get_if<program::Free>(&command.action))
      copies.left -= bytes_of(free->buffer);
    copies.most = std::max(copies.most, copies.left);
  }
  return copies;
}

// Bytes of each parameter, in their order.
std::vector<std::int64_t> parameters_of(const Settings& settings) {
  const program::Config config = test::config_of(settings);
  const program::Program program = train::build_program(config, train::machine_of(config));
  std::vector<std::int64_t> parameters;
  for (const program::Buffer& one : program.buffers)
    if (one.role == program::Role::kParameter) parameters.push_back(one.bytes);
  return parameters;
}

Settings gpt2(const Settings& more) {
  Settings all{"model.name=gpt2", "data.name=tokens", "steps=3", "batch_size=1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const std::vector<std::string> kNames{": sqrt(exp_avg_sq)", ": denom", ": gradient with decay"};

}  // namespace

TEST_CASE("foreach copies all parameters at once, a loop those of one, and fused none") {
  const std::vector<std::int64_t> each = parameters_of(gpt2({}));
  std::int64_t all = 0, most = 0, before = 0;
  for (const std::int64_t one : each) {
    most = std::max(most, before + 2 * one);  // the last quotient, the root and the new quotient
    before = one;
    all += one;
  }
  const auto adamw = [&](const char* way) {
    return copies_in(gpt2({"optimizer.name=adamw", way}), kNames);
  };
  CHECK(adamw("optimizer.impl=foreach").most == all);
  CHECK(adamw("optimizer.impl=for_loop").most == most);
  CHECK(most < all);
  CHECK(adamw("optimizer.impl=fused").most == 0);
  for (const char* way : {"optimizer.impl=foreach", "optimizer.impl=for_loop"})
    CHECK(adamw(way).left == 0);
}

TEST_CASE("gradients that decay is added to are copies, but in a fused kernel") {
  const std::vector<std::int64_t> each = parameters_of(gpt2({}));
  std::int64_t all = 0;
  for (const std::int64_t one : each) all += one;
  const auto decayed = [&](const char* name, const char* way) {
    return copies_in(gpt2({name, way, "optimizer.weight_decay=0.1"}), {": gradient with decay"});
  };
  for (const char* name : {"optimizer.name=sgd", "optimizer.name=adam"}) {
    CAPTURE(name);
    CHECK(decayed(name, "optimizer.impl=foreach").most == all);
    CHECK(decayed(name, "optimizer.impl=for_loop").most == std::ranges::max(each));
    CHECK(decayed(name, "optimizer.impl=fused").most == 0);
    CHECK(decayed(name, "optimizer.impl=for_loop").left == 0);
  }
  CHECK(decayed("optimizer.name=adamw", "optimizer.impl=foreach").most == 0);
}

TEST_CASE("an infinity that is written into a gradient is one number") {
  const program::Config config =
      test::config_of(gpt2({"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=1"}));
  const program::Program program = train::build_program(config, train::machine_of(config));
  const auto infinite = std::ranges::find_if(program.operations, [](const auto& one) {
    const auto* fill = std::get_if<program::Fill>(&one.function);
    return fill && fill->value == std::numeric_limits<double>::infinity();
  });
  REQUIRE(infinite != program.operations.end());
  CHECK(infinite->bytes == 4);
}
