// What makes room where there is none: what saves memory, held against runs that have it.
#include <catch2/catch.hpp>

#include "analysis/advice/advice.h"
#include "analysis/advice/batch_fit.h"
#include "analysis/findings.h"

using namespace trainscope;
using namespace trainscope::analysis;
using Catch::Matchers::Contains;

namespace {

Run llama(const test::Settings& more) {
  return test::run_of(
      test::with({"workload=train", "model.name=llama-3-8b", "optimizer.name=adamw"}, more));
}

test::Settings sharded(const char* ranks, const char* batch) {
  return {"machine=h100-sxm-8",
          "model.seq_len=8192",
          "attention.kernel=flash",
          "parallel.strategy=fsdp",
          "fsdp.param_dtype=bf16",
          "checkpoint.enabled=true",
          ranks,
          batch};
}

std::string advice_of(const Run& run) {
  REQUIRE(run.ending);
  return out_of_memory_advice(run, {});
}

}  // namespace

TEST_CASE("no type is advised that makes the need larger, and the batch is the largest that fits") {
  const test::Settings full = sharded("parallel.world_size=8", "batch_size=8");
  const Run run = llama(full);
  const std::string advice = advice_of(run);
  CHECK_THAT(advice, !Contains("narrower types") &&
                         Contains("batch_size=6; batch_size=4 accumulate_steps=2"));
  const auto fit = batch_fit(run.config, *run.machine, [] { return false; });
  REQUIRE(fit);
  CHECK(fit->largest == 6);
  CHECK(largest_batch_with(run.config, *run.machine, "") == fit->largest);
  const auto peak = [&](const char* settings) {
    return *peak_with(run.config, *run.machine, settings);
  };
  CHECK(peak("precision=bf16") > peak(""));
}

TEST_CASE("GPUs of the machine that a run leaves idle are what it is told of") {
  const std::string advice = advice_of(
      llama(test::with(sharded("parallel.world_size=1", "batch_size=1"), {"precision=bf16"})));
  CHECK_THAT(advice, Catch::StartsWith("Try all 8 GPUs of the machine") &&
                         Contains("(SIMULATED): parallel.world_size=8."));
}

TEST_CASE(
    "where the parameters have no room it is told what makes them smaller, and what is short") {
  const std::string advice = advice_of(llama({"machine=rtx4090-1", "batch_size=4"}));
  CHECK_THAT(advice, Catch::StartsWith("Try weights in BF16") && !Contains("checkpoint") &&
                         !Contains("attention") && !Contains("GPUs (fully_shard)") &&
                         Contains("Nothing that could be tried is enough (SIMULATED)"));
}
