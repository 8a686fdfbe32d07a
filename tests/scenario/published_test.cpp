#include "scenario/published.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "analysis/runs/published_errors.h"
#include "base/files.h"
#include "base/temporary_folder.h"

using namespace trainscope;

TEST_CASE("published measurements come out of the simulator within their tolerances") {
  const auto checks = scenario::load_published();
  REQUIRE(checks.size() >= 36);
  std::map<std::string, std::vector<scenario::PublishedResult>> groups;
  std::vector<scenario::PublishedResult> all;
  for (const auto& check : checks) {
    const auto result = scenario::carry_out(check);
    INFO(check.id << " " << check.what << ": published " << check.value << ", simulated "
                  << result.simulated);
    // What is known to miss does: once it no longer does, the file must not say so.
    CHECK(result.within() == check.missed.empty());
    groups[check.id].push_back(result);
    all.push_back(result);
  }
  // Verdicts on runs are held against the errors of this very simulator.
  CHECK(scenario::published_errors_file(all) ==
        read_file(home_folder() / "assets" / "published_errors.toml", 1 << 20));
  // Fifteen sizes of one curve: 10 % each, 5 % on average.
  CHECK(scenario::summarise(groups["A6"]).mean_size <= 0.05);
  // Curves of collectives.
  CHECK(scenario::summarise(groups["A10"]).mean_size <= 0.10);
  CHECK(scenario::summarise(groups["A11"]).mean_size <= 0.10);
  CHECK(scenario::summarise(groups["A12"]).mean_size <= 0.08);
}

namespace {

// Of checks named so: the words between are the number of GPUs.
std::map<int, double> by_gpus(const std::string& before, const std::string& after) {
  std::map<int, double> found;
  for (const auto& check : scenario::load_published()) {
    if (!check.what.starts_with(before) || !check.what.ends_with(after)) continue;
    found[std::stoi(check.what.substr(before.size()))] = scenario::carry_out(check).simulated;
  }
  return found;
}

}  // namespace

TEST_CASE("more GPUs cost DDP more of a step, to the millisecond, and smaller buckets more still") {
  for (const auto& [model, alone] : {std::pair{"ResNet-50", 97.0}, {"ResNeXt-50", 145.0}}) {
    INFO(model);
    const std::string name = std::string("V100, ") + model + ", 32 a GPU: a step of DDP on ";
    const std::map<int, double> over_none = by_gpus(name, " over one without");
    REQUIRE(over_none.size() == 5);
    double before = alone;
    for (const auto& [gpus, ratio] : over_none) {
      INFO(gpus << " GPUs");
      const double step = std::round(ratio * alone);
      CHECK(step >= before);
      before = step;
    }
  }
  const std::map<int, double> small =
      by_gpus("V100, ResNet-50, 32 a GPU, DDP on ", ": a step with buckets of 1 MB over one of 25");
  REQUIRE(small.size() == 5);
  for (const auto& [gpus, ratio] : small) {
    INFO(gpus << " GPUs");
    if (gpus > 1) CHECK(ratio > 1);
  }
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

TEST_CASE("what is wrong in a file of errors is said, with its line") {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& text) {
    return analysis::load_published_errors(folder.write("published_errors.toml", text));
  };
  const std::string row = "[[errors]]\nstrategy = \"ddp\"\nrows = 2\n";
  CHECK(load(row + "least = -0.1\nmost = 0.2\n").front().largest() == 0.2);
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(load("errors = 1\n"), Contains("[[errors]]"));
  CHECK_THROWS_WITH(
      load(row), Contains("strategy, rows, least and most") && Contains("published_errors.toml:1"));
  CHECK_THROWS_WITH(load(row + "least = 0.3\nmost = 0.2\n"), Contains("not above its most"));
}
