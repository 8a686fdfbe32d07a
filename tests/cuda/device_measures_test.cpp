// The measurements of trainscope_bench device, on the emulated device.

#include "bench/device_measures.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "cuda/emulated_device.h"
#include "support/config.h"
#include "train/build.h"

using namespace trainscope;
using test::config_of;

namespace {

std::vector<bench::KernelRate> rates_of(const std::vector<std::string>& settings,
                                        std::int64_t least_bytes, std::int64_t lost_at = -1) {
  static const machine::Machine costs = machine::load_machine("h200-1");
  test::EmulatedOptions options;
  options.costs = &costs;
  options.lost_at = lost_at;
  test::EmulatedDevice device(options);
  const program::Config config = config_of(settings);
  return bench::kernel_rates(device, train::build_program(config, train::machine_of(config)),
                             least_bytes);
}

}  // namespace

TEST_CASE("kernels that move memory are timed beside a copy of as many bytes") {
  const auto rates = rates_of({"workload=train", "model.name=cnn", "data.name=digits", "steps=1",
                               "batch_size=4", "loop.evaluate=false"},
                              1);
  REQUIRE(rates.size() > 10);
  for (const bench::KernelRate& one : rates) {
    INFO(one.name << ", " << one.bytes << " bytes");
    CHECK(one.bytes > 0);
    CHECK(one.nanos > 0);
    CHECK(one.copy_nanos > 0);
    CHECK(one.name.find("addmm") == std::string::npos);
  }
  const auto has = [&](const char* word) {
    return std::ranges::any_of(
        rates, [&](const auto& one) { return one.name.find(word) != std::string::npos; });
  };
  CHECK(has("batch_norm"));
  CHECK(has("max_pool2d"));
  CHECK(has("_foreach"));
}

TEST_CASE("a kernel moves each operand once, and what it changes twice") {
  const auto bytes_of = [](const std::vector<std::string>& settings, const char* word) {
    std::int64_t bytes = 0;
    for (const bench::KernelRate& one : rates_of(settings, 1))
      if (one.name.find(word) != std::string::npos) bytes = std::max(bytes, one.bytes);
    return bytes;
  };
  const std::vector<std::string> mlp{"workload=train", "model.name=mlp", "data.name=digits",
                                     "steps=1",        "batch_size=4",   "optimizer.impl=fused"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> settings = mlp;
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const program::Config config = config_of(mlp);
  const std::int64_t parameters =
      train::build_program(config, train::machine_of(config)).parameters;
  // Gradients are read; weights and both moments read and written; the number of steps, too.
  CHECK(bytes_of(with({"optimizer.name=adamw"}), "fused_adam") == 7 * 4 * parameters + 2 * 4);
  CHECK(bytes_of(with({"optimizer.name=sgd"}), "fused_sgd") == 3 * 4 * parameters);
  CHECK(bytes_of(with({"optimizer.name=sgd", "optimizer.momentum=0.9"}), "fused_sgd") ==
        5 * 4 * parameters);
}

TEST_CASE("masks are drawn anew, and a place in a pooled image is a number of 32 bits") {
  const auto rates = rates_of({"workload=train", "model.name=cnn", "data.name=digits", "steps=1",
                               "batch_size=4", "loop.evaluate=false"},
                              1);
  const program::Config config = config_of({"workload=train", "model.name=cnn", "data.name=digits",
                                            "steps=1", "batch_size=4", "loop.evaluate=false"});
  const program::Program program = train::build_program(config, train::machine_of(config));
  for (const program::Operation& one : program.operations) {
    const auto* pool = std::get_if<program::MaxPooling>(&one.function);
    if (!pool || pool->part != program::Part::kForward) continue;
    const std::int64_t image = program.buffers[one.reads[0]].bytes;
    const std::int64_t pooled = program.buffers[one.writes[0]].bytes;
    CHECK(std::ranges::any_of(rates, [&](const bench::KernelRate& rate) {
      return rate.name.find("max_pool2d") != std::string::npos && rate.bytes == image + 2 * pooled;
    }));
  }
  const std::vector<std::string> text{"workload=train",   "model.name=gpt-mini", "data.name=text",
                                      "steps=1",          "batch_size=2",        "model.width=16",
                                      "model.blocks=1",   "model.heads=2",       "model.seq_len=8",
                                      "model.dropout=0.1"};
  bool dropped = false;
  for (const bench::KernelRate& one : rates_of(text, 1))
    if (one.name.find("dropout") != std::string::npos) {
      dropped = true;
      CHECK(one.bytes == 2 * 4 * 2 * 8 * 16 + 8);  // where its draws began, too
    }
  CHECK(dropped);
}

TEST_CASE("the trainings whose kernels are timed on a GPU can be built, and have large tensors") {
  const std::vector<bench::RateCase> cases = bench::rate_cases();
  REQUIRE(cases.size() == 9);
  std::set<std::string> words;
  for (const bench::RateCase& one : cases) {
    CAPTURE(one.words);
    CHECK(words.insert(one.words).second);
    const program::Program program =
        train::build_program(one.config, train::machine_of(one.config));
    CHECK(std::ranges::any_of(program.buffers, [](const program::Buffer& buffer) {
      return buffer.bytes >= std::int64_t{100} << 20;
    }));
  }
}

TEST_CASE("a kernel that fails is in the list with its reason, and those before it have times") {
  const auto rates = rates_of({"workload=train", "model.name=cnn", "data.name=digits", "steps=1",
                               "batch_size=4", "loop.evaluate=false"},
                              1, 1000);
  const auto failed = [](const auto& one) { return !one.failure.empty(); };
  const auto first = std::ranges::find_if(rates, failed);
  REQUIRE(first != rates.begin());
  REQUIRE(first != rates.end());
  for (auto one = rates.begin(); one != first; ++one) CHECK(one->copy_nanos > 0);
  for (auto one = first; one != rates.end(); ++one)
    CHECK(one->failure.find("lost") != one->failure.npos);
}

TEST_CASE("of fused kernels those are timed that only move memory") {
  const auto rates = rates_of({"workload=train", "model.name=gpt-mini", "data.name=text", "steps=1",
                               "batch_size=2", "model.width=16", "model.blocks=1", "model.heads=2",
                               "model.seq_len=8", "model.dropout=0.1", "compile.fuse=true"},
                              1);
  CHECK(std::ranges::any_of(
      rates, [](const auto& one) { return one.name.find("fused steps") != std::string::npos; }));
}

TEST_CASE("a step's time is what more steps take more, whatever is watched") {
  static const machine::Machine costs = machine::load_machine("h200-1");
  test::EmulatedOptions options;
  options.costs = &costs;
  test::EmulatedDevice device(options);
  const program::Config config =
      config_of({"workload=train", "model.name=mlp", "data.name=digits", "batch_size=8",
                 "model.hidden=8", "loop.evaluate=false"});
  const bench::StepTime off = bench::step_time(device, config, cuda::WatchLevel::kNothing, 5, 3);
  CHECK(off.best > 0);
  CHECK(off.median >= off.best);
  const bench::StepTime all = bench::step_time(device, config, cuda::WatchLevel::kEverything, 5, 3);
  CHECK(all.median == Approx(off.median));  // watching costs nothing here
  CHECK(bench::mean_kernel_time(device, config) > 0);
}
