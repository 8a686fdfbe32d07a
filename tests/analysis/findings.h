// Runs of configs, and what is found first of them.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/causes/diagnosis.h"
#include "analysis/runs/run.h"
#include "support/config.h"

namespace trainscope::test {

inline analysis::Run run_of(const std::vector<std::string>& settings) {
  return analysis::run_config("A", config_of(settings));
}

inline analysis::Finding first_of(const analysis::Run& run) {
  const std::vector<analysis::Finding> findings = analysis::diagnose(run);
  REQUIRE_FALSE(findings.empty());
  return findings.front();
}

}  // namespace trainscope::test
