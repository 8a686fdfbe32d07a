// What is advised to whom recomputes blocks: each of them for room, fewer for speed.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/advice/proposals.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/runs/run.h"
#include "support/config.h"

using namespace trainscope;
using test::Settings;
using test::with;

namespace {

const Settings kGpt{
    "workload=train", "machine=a100-40-sxm-1",  "model.name=gpt2", "model.seq_len=1024",
    "precision=bf16", "attention.kernel=flash", "steps=2",         "checkpoint.enabled=true"};

bool proposes(const analysis::Run& run, const char* settings) {
  const std::vector<analysis::Proposal> all = analysis::proposals(run);
  return std::ranges::find(all, settings, &analysis::Proposal::settings) != all.end();
}

analysis::Run run_of(const Settings& settings) {
  return analysis::run_config("A", test::config_of(settings));
}

}  // namespace

TEST_CASE("a run that recomputes each block may recompute every second, or none") {
  const analysis::Run each = run_of(with(kGpt, {"batch_size=4"}));
  CHECK(proposes(each, "checkpoint.enabled=false"));
  CHECK(proposes(each, "checkpoint.every=2"));
  const analysis::Run second = run_of(with(kGpt, {"batch_size=4", "checkpoint.every=2"}));
  CHECK(proposes(second, "checkpoint.enabled=false"));
  CHECK_FALSE(proposes(second, "checkpoint.every=2"));
  CHECK_FALSE(
      proposes(run_of({"workload=train", "model.name=gpt2", "steps=2"}), "checkpoint.every=2"));
}

TEST_CASE("a run out of memory that recomputes some blocks is told of recomputing each") {
  const auto advice = [](const Settings& more) {
    const analysis::Run run = run_of(with(kGpt, more));
    REQUIRE(run.ending);
    return analysis::diagnose(run).front().advice;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(advice({"batch_size=100", "checkpoint.every=2"}),
             Contains("of each block (checkpoint.every = 1)") && !Contains("(checkpoint.enabled)"));
  CHECK_THAT(advice({"batch_size=200"}), !Contains("checkpoint."));
}
