// A training on a device beside the same one on the host: loss by loss, skip by skip.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/measured_run.h"
#include "support/config.h"

namespace trainscope::test {

inline std::vector<trace::TrainingStep> steps_of(const analysis::Run& run) {
  std::vector<trace::TrainingStep> steps;
  for (std::uint32_t i = 0; i < run.trace->steps().size(); ++i)
    steps.push_back(run.trace->steps()[i]);
  return steps;
}

// Losses differ by at most `allowed` of the host's.
inline void check_learns_alike(cuda::DeviceCalls& on, const std::vector<std::string>& settings,
                               double allowed) {
  std::string words;
  for (const std::string& setting : settings) words += setting + " ";
  INFO(words);
  const program::Config config = config_of(settings);
  const analysis::Run measured = analysis::measured_run("A", config, on);
  INFO((measured.ending ? sim::sentence(*measured.ending) : ""));
  REQUIRE_FALSE(measured.ending);
  const auto real = steps_of(measured), ours = steps_of(analysis::run_config("A", config));
  REQUIRE_FALSE(ours.empty());
  REQUIRE(real.size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("step " << i << ": " << real[i].loss << " on the device, " << ours[i].loss);
    CHECK(std::abs(real[i].loss - ours[i].loss) <= allowed * std::abs(ours[i].loss));
    CHECK(real[i].skipped == ours[i].skipped);
  }
}

}  // namespace trainscope::test
