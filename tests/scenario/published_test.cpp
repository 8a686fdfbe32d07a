#include "scenario/published.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace trainscope;

TEST_CASE("published measurements come out of the simulator within their tolerances") {
  const auto checks = scenario::load_published();
  REQUIRE(checks.size() >= 36);
  std::map<std::string, std::vector<scenario::PublishedResult>> groups;
  for (const auto& check : checks) {
    const auto result = scenario::carry_out(check);
    INFO(check.id << " " << check.what << ": published " << check.value << ", simulated "
                  << result.simulated);
    // What is known to miss does: once it no longer does, the file must not say so.
    CHECK(result.within() == check.missed.empty());
    groups[check.id].push_back(result);
  }
  // Fifteen sizes of one curve: 10 % each, 5 % on average.
  CHECK(scenario::summarise(groups["A6"]).mean_size <= 0.05);
  // Curves of collectives.
  CHECK(scenario::summarise(groups["A10"]).mean_size <= 0.10);
  CHECK(scenario::summarise(groups["A11"]).mean_size <= 0.10);
  CHECK(scenario::summarise(groups["A12"]).mean_size <= 0.08);
}

TEST_CASE("a summary has mean, signed mean and the worst error with its sign") {
  std::vector<scenario::PublishedResult> results(3);
  results[0].error = 0.02;
  results[1].error = -0.06;
  results[2].error = 0.01;
  const auto summary = scenario::summarise(results);
  CHECK(summary.count == 3);
  CHECK(summary.mean_size == Approx(0.03));
  CHECK(summary.mean == Approx(-0.01));
  CHECK(summary.worst == -0.06);
}
