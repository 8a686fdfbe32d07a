// A training by the kernels, on the emulated device, beside the same one by the host's operations.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/runs/run.h"
#include "cuda/emulated_device.h"
#include "cuda/execution.h"
#include "support/config.h"
#include "train/build.h"
#include "train/parallel/ranks.h"

namespace trainscope::test {

struct Training {
  std::vector<trace::TrainingStep> steps;
  std::vector<trace::Evaluation> evaluations;
};

inline Training rows_of(const trace::Trace& trace) {
  Training rows;
  for (std::uint32_t i = 0; i < trace.steps().size(); ++i) rows.steps.push_back(trace.steps()[i]);
  for (std::uint32_t i = 0; i < trace.evaluations().size(); ++i)
    rows.evaluations.push_back(trace.evaluations()[i]);
  return rows;
}

inline Training on_device(const program::Config& config, std::uint32_t seed) {
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::with_every_rank(train::build_program(config, machine));
  trace::Trace trace(trace::Origin{trace::OriginKind::kMeasured, "Emulated GPU", "", 0});
  EmulatedOptions options;
  options.seed = seed;
  EmulatedDevice device(options);
  cuda::Execution execution(program, machine, device, trace);
  const auto failure = execution.run();
  INFO((failure ? failure->sentence : ""));
  REQUIRE_FALSE(failure);
  return rows_of(trace);
}

// Losses within `allowed` of the host's, relative to them.
inline void compare(const Training& device, const Training& host, double allowed) {
  REQUIRE(device.steps.size() == host.steps.size());
  REQUIRE_FALSE(host.steps.empty());
  for (std::size_t i = 0; i < host.steps.size(); ++i) {
    INFO("step " << i << ": " << device.steps[i].loss << " and " << host.steps[i].loss);
    CHECK(device.steps[i].step == host.steps[i].step);
    CHECK(std::abs(device.steps[i].loss - host.steps[i].loss) <= allowed * host.steps[i].loss);
    CHECK(device.steps[i].skipped == host.steps[i].skipped);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    CHECK(same(device.steps[i].loss_scale, host.steps[i].loss_scale));
    CHECK(same(device.steps[i].used_scale, host.steps[i].used_scale));
    if (!std::isnan(host.steps[i].gradient_norm))
      CHECK(device.steps[i].gradient_norm == Approx(host.steps[i].gradient_norm).epsilon(allowed));
  }
  REQUIRE(device.evaluations.size() == host.evaluations.size());
  for (std::size_t i = 0; i < host.evaluations.size(); ++i) {
    CHECK(device.evaluations[i].samples == host.evaluations[i].samples);
    // What lies on the border of two classes may fall to either side.
    const std::int64_t others = device.evaluations[i].correct - host.evaluations[i].correct;
    CHECK(std::abs(static_cast<double>(others)) <=
          0.02 * static_cast<double>(host.evaluations[i].samples));
  }
}

inline void check_same(const std::vector<std::string>& settings, double allowed,
                       std::uint32_t seed = 1) {
  std::string all;
  for (const std::string& setting : settings) all += setting + " ";
  INFO(all << "seed " << seed);
  const program::Config config = config_of(settings);
  compare(on_device(config, seed), rows_of(*analysis::run_config("A", config).trace), allowed);
}

inline const std::vector<std::string> kMlp{"model.name=mlp", "workload=train", "data.name=spirals",
                                           "steps=5",        "batch_size=32",  "model.hidden=16",
                                           "model.inputs=2"};

inline std::vector<std::string> mlp_with(const std::vector<std::string>& more) {
  std::vector<std::string> settings = kMlp;
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Sums in FP32 in another order, over a few steps.
inline constexpr double kFp32 = 2e-5;

// A step of a larger model is minutes where the emulator is watched by a sanitizer; tests/kernels
// runs each of its kernels there.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kWatched = true;
#else
inline constexpr bool kWatched = false;
#endif

}  // namespace trainscope::test
