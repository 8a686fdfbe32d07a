// What a GPU sends to the others, against the closed forms of a ring (nccl-tests, PERFORMANCE.md)
// and of a pipeline.
#include <catch2/catch.hpp>

#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run.h"
#include "support/config.h"

using namespace trainscope;

TEST_CASE("of n ranks in a ring each sends so many bytes of a collective") {
  constexpr double kBytes = 64 << 20, kCount = 3;
  for (const int ranks : {2, 4, 8}) {
    const double others = (ranks - 1.0) / ranks;
    for (const auto& [op, factor] :
         {std::pair{"all_reduce", 2 * others}, std::pair{"all_gather", others},
          std::pair{"reduce_scatter", others}}) {
      INFO(op << " of " << ranks);
      const analysis::Run run = analysis::run_config(
          "A",
          test::config_of({"workload=collective", "machine=a100-sxm-8", "collective.algorithm=ring",
                           "collective.bytes=64 MiB", "collective.count=3", "steps=3",
                           "collective.ranks=" + std::to_string(ranks),
                           std::string("collective.op=") + op}));
      CHECK(analysis::value_of(run.metrics, "comm.bytes").value_or(0) ==
            Approx(kCount * factor * kBytes).epsilon(1e-9));
    }
  }
}

TEST_CASE("of a pipeline the GPU that sends most is told, whichever is the critical one") {
  constexpr double kMicroBatches = 8, kSamples = 8, kHidden = 128, kBytes = 4;
  const analysis::Run run = analysis::run_config(
      "A",
      test::config_of({"workload=train", "machine=h100-sxm-8", "model.name=mlp", "model.layers=7",
                       "model.hidden=128", "batch_size=64", "steps=6", "parallel.strategy=pipeline",
                       "parallel.world_size=4", "pipeline.microbatches=8"}));
  // The ends send activations or their gradients, those between them both.
  const double at_an_end = kMicroBatches * kSamples * kHidden * kBytes;
  CHECK(analysis::value_of(run.metrics, "comm.bytes").value_or(0) ==
        Approx(2 * at_an_end).epsilon(0.05));
  CHECK(analysis::value_of(run, analysis::asked_metric("comm.bytes@0")).value_or(0) ==
        Approx(at_an_end).epsilon(0.05));
}

TEST_CASE("a run without collectives sends nothing that could be told") {
  const analysis::Run run = analysis::run_config("A", test::config_of({"workload=train"}));
  CHECK_FALSE(analysis::value_of(run.metrics, "comm.bytes"));
}
