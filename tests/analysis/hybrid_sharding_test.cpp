// Hybrid sharding, simulated: what it sends where, what it takes, what it keeps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>

#include "analysis/advice/trials.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/causes/unit_times.h"
#include "analysis/runs/run.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using namespace trainscope::analysis;
using Catch::Matchers::Contains;
using test::Settings;
using test::value;

namespace {

Run run_of(const Settings& more) {
  Settings settings{"workload=train",
                    "machine=dgx1-v100-8x2",
                    "parallel.strategy=fsdp",
                    "parallel.world_size=16",
                    "model.name=gpt2",
                    "data.name=tokens",
                    "model.seq_len=128",
                    "batch_size=1",
                    "steps=3",
                    "optimizer.name=adamw",
                    "collective.algorithm=ring"};
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

// What came to a node through its adapters in all steps, by their counter.
double network_bytes(const Run& run) {
  double area = 0, last = 0;
  Nanos since = 0;
  for (std::uint32_t i = 0; i < run.trace->samples().size(); ++i) {
    const trace::Sample& sample = run.trace->samples()[i];
    const trace::Lane& lane = run.trace->lanes()[sample.lane];
    if (lane.name != "network in, %" || lane.group != "node 0") continue;
    area += last * static_cast<double>(sample.time - since);
    last = sample.value;
    since = sample.time;
  }
  return area / 100 * run.machine->network.bytes_per_s * 1e-9;
}

double parameter_bytes(const Run& run) {
  return 4 * static_cast<double>(run.program->parameters);
}

}  // namespace

TEST_CASE("of hybrid sharding only the sums of the parts pass the network") {
  const Run full = run_of({}), mixed = run_of({"fsdp.shard_degree=8"});
  // Gradients are scattered once, parameters gathered once or twice; 15 of 16 parts come from
  // other ranks, and each ring leaves a node once.
  const double whole = parameter_bytes(full);
  CHECK(value(full, "comm.network_bytes") > 2.5 * whole * 15 / 16);
  CHECK(value(full, "comm.network_bytes") < 3.0 * whole * 15 / 16);
  // An all-reduce of two sends what it sums; each of the 8 groups an eighth.
  CHECK(value(mixed, "comm.network_bytes") == Approx(whole).epsilon(1e-3));
  CHECK(network_bytes(mixed) == Approx(3 * whole).epsilon(0.01));
  CHECK(network_bytes(full) == Approx(3 * value(full, "comm.network_bytes")).epsilon(0.01));
  CHECK(value(mixed, "link.utilization") <= 1);
  CHECK(value(full, "link.utilization") <= 1);
}

TEST_CASE("smaller groups sum over more ranks, within a node and between") {
  for (const int degree : {1, 2, 4}) {
    const Run run = run_of({"fsdp.shard_degree=" + std::to_string(degree)});
    const double replicas = 16.0 / degree, whole = parameter_bytes(run);
    CAPTURE(degree);
    // Of each replicate group 2 (n - 1) / n of its part, on the one ring that leaves the node.
    CHECK(value(run, "comm.network_bytes") ==
          Approx(2 * (replicas - 1) / replicas * whole).epsilon(2e-3));
  }
}

TEST_CASE("on a slow network hybrid sharding has the shorter step, and the larger memory") {
  const Run full = run_of({}), mixed = run_of({"fsdp.shard_degree=8"});
  CHECK(value(mixed, "time.step") < 0.8 * value(full, "time.step"));
  CHECK(value(mixed, "memory.peak_allocated") > value(full, "memory.peak_allocated"));
  // AdamW keeps two numbers a parameter.
  for (const auto& [run, ranks] : {std::pair{&full, 16}, std::pair{&mixed, 8}})
    CHECK(value(*run, "memory.optimizer") ==
          Approx(2 * parameter_bytes(*run) / ranks).epsilon(0.04));  // in blocks
  CHECK(value(mixed, "model.flops") == value(full, "model.flops"));
}

TEST_CASE("within one node groups take no network") {
  const Run run = run_of({"machine=h200-8", "parallel.world_size=8", "fsdp.shard_degree=4"});
  CHECK_FALSE(value_of(run.metrics, "comm.network_bytes"));
}

TEST_CASE("ranks that hardly differ take as long in groups as one that stands for all") {
  for (const char* degree : {"fsdp.shard_degree=8", "fsdp.shard_degree=4"}) {
    CAPTURE(degree);
    const Run one = run_of({degree});
    const Run all = run_of({degree, "straggler.rank=9", "straggler.factor=1.0001"});
    CHECK(all.program->streams.size() == 16 * one.program->streams.size());
    CHECK(value(all, "time.step") == Approx(value(one, "time.step")).epsilon(0.01));
    CHECK(value(all, "comm.network_bytes") == Approx(value(one, "comm.network_bytes")));
  }
}

TEST_CASE("a slow rank holds up the ranks of other groups through those that sum with it") {
  const Run even = run_of({"fsdp.shard_degree=8", "batch_size=4"});
  const Run odd =
      run_of({"fsdp.shard_degree=8", "batch_size=4", "straggler.rank=9", "straggler.factor=1.5"});
  CHECK(value(odd, "time.step") > 1.2 * value(even, "time.step"));
}

TEST_CASE("a rank of a group with a batch less is missed by its group") {
  const Run run = run_of({"fsdp.shard_degree=8", "uneven_batches=true"});
  REQUIRE(run.ending);
  const std::string sentence = sim::sentence(*run.ending);
  CHECK_THAT(sentence, Contains("for rank 15, which has come to the end of its program"));
}

TEST_CASE("a unit's all-reduce is told beside its reduce-scatter") {
  const Run run = run_of({"fsdp.shard_degree=8"});
  const UnitTimes times = unit_times(*run.trace);
  int sums = 0;
  for (const UnitStep& step : times.steps)
    for (const UnitVisit& visit : step.visits) {
      CHECK(visit.sum.has_value() == visit.scatter.has_value());
      if (!visit.sum) continue;
      ++sums;
      CHECK(visit.sum->start >= visit.scatter->end);
      CHECK(visit.sum->end <= step.time.end);
    }
  CHECK(sums == 3 * 13);
}

TEST_CASE("who waits for all-gathers over the network is told of hybrid sharding") {
  const auto advice = [](const Settings& more) {
    std::string text;
    for (const Finding& finding : diagnose(run_of(more))) text += finding.advice + "\n";
    return text;
  };
  CHECK_THAT(advice({}), Contains("fsdp.shard_degree = 8"));
  CHECK_THAT(advice({"fsdp.shard_degree=8"}), !Contains("fsdp.shard_degree"));
}

TEST_CASE(
    "who gathers over the network has hybrid sharding tried, which is then not called untried") {
  const Run run = run_of({});
  const auto tried = trials(run);
  REQUIRE(tried);
  const auto hybrid = std::ranges::find(tried->changes, "fsdp.shard_degree=8", text_of);
  REQUIRE(hybrid != tried->changes.end());
  CHECK(static_cast<double>(hybrid->time) ==
        Approx(value(run_of({"fsdp.shard_degree=8"}), "time.step")));
  std::string text;
  for (const Finding& finding : diagnose(run, {}, &*tried)) text += finding.advice + "\n";
  CHECK_THAT(text, Contains("fsdp.shard_degree=8 ") && !Contains("Not tried"));
}
