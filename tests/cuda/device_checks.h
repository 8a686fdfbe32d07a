// What holds on every device: a training beside the same one on the host, loss by loss, skip by
// skip; collectives of all kinds.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/runs/measured_run.h"
#include "support/config.h"

namespace trainscope::test {

inline std::vector<trace::TrainingStep> steps_of(const analysis::Run& run) {
  std::vector<trace::TrainingStep> steps;
  for (std::uint32_t i = 0; i < run.trace->steps().size(); ++i)
    steps.push_back(run.trace->steps()[i]);
  return steps;
}

// Losses differ by at most `allowed` of ours.
inline void check_same_steps(const analysis::Run& measured, const analysis::Run& run,
                             double allowed) {
  const auto real = steps_of(measured), ours = steps_of(run);
  REQUIRE_FALSE(ours.empty());
  REQUIRE(real.size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO("step " << i << ": " << real[i].loss << " on the device, " << ours[i].loss);
    CHECK(std::abs(real[i].loss - ours[i].loss) <= allowed * std::abs(ours[i].loss));
    CHECK(real[i].skipped == ours[i].skipped);
  }
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
  check_same_steps(measured, analysis::run_config("A", config), allowed);
}

// Of four ranks: each collective ends, and each rank has its span on its stream.
inline void check_collectives(cuda::DeviceCalls& on, std::int64_t bytes) {
  for (const std::string op :
       {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}) {
    INFO(op);
    const analysis::Run run = analysis::measured_run(
        "A",
        config_of({"workload=collective", "machine=h200-8", "collective.ranks=4", "steps=3",
                   "collective.bytes=" + std::to_string(bytes), "collective.op=" + op}),
        on);
    REQUIRE_FALSE(run.ending);
    int spans = 0;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
      const bool on_stream = run.trace->lanes()[span.lane].kind == trace::LaneKind::kStream;
      spans += on_stream && span.category == trace::Category::kCollective ? 1 : 0;
    });
    CHECK(spans == 4 * 3);
    CHECK(analysis::value_of(run.metrics, "bandwidth.bus").value_or(0) > 0);
  }
}

}  // namespace trainscope::test
