// A metric of a run, for tests that need it to be there.
#pragma once

#include <catch2/catch.hpp>
#include <string_view>

#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run.h"

namespace trainscope::test {

// By its name, and of one rank where that is said: "time.step@1" (analysis/metrics/rank_metrics.h).
inline double value(const analysis::Run& run, std::string_view metric) {
  const auto found = analysis::value_of(run, analysis::asked_metric(metric));
  INFO(run.label << " " << metric);
  REQUIRE(found);
  return *found;
}

}  // namespace trainscope::test
