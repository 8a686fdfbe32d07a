// Tensor parallelism inside a node, FSDP across, simulated: what goes where, and what is kept.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string_view>

#include "analysis/causes/diagnosis.h"
#include "analysis/causes/unit_times.h"
#include "analysis/grid_runs.h"
#include "analysis/runs/run.h"
#include "analysis/views/gradient_flow.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using namespace trainscope::analysis;
using Catch::Matchers::Contains;
using test::is_among;
using test::Settings;
using test::settings_of;
using test::spans_of;
using test::value;

namespace {

constexpr double kWidth = 512, kTokens = 256, kBlocks = 4, kFloat = 4;

Run run_of(const Settings& more) {
  Settings settings{"workload=train",         "machine=h200-8x2",    "parallel.strategy=fsdp",
                    "parallel.world_size=16", "model.name=gpt-mini", "data.name=text",
                    "model.width=512",        "model.heads=16",      "model.blocks=4",
                    "model.seq_len=256",      "batch_size=2",        "steps=4",
                    "optimizer.name=adamw",   "loop.evaluate=false", "collective.algorithm=ring"};
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

// Bytes of what a rank computes with, of which a tensor group of so many shares out the layers:
// those of all blocks, of which each has 12 w^2 weights, 7 w cut biases, and 6 w that are whole;
// and all else, embeddings, the last norm and the head.
struct Parts {
  double blocks = 0, root = 0;
};

Parts parts_of(const Run& run, double degree) {
  const double whole = kFloat * static_cast<double>(run.program->parameters);
  const auto of_blocks = [](double ranks) {
    return kFloat * kBlocks * (12 * kWidth * kWidth / ranks + 7 * kWidth / ranks + 6 * kWidth);
  };
  return {of_blocks(degree), whole - of_blocks(1)};
}

// What FSDP sends of these, each rank, of so many: blocks are gathered twice, the root once, and
// gradients scattered.
double bytes_of_units(const Parts& parts, double ranks) {
  return (3 * parts.blocks + 2 * parts.root) * (ranks - 1) / ranks;
}

// Of each block, two sums in forward and two in backward, by rings of so many.
double bytes_between_layers(double batch, double degree) {
  return kBlocks * 4 * batch * kTokens * kWidth * kFloat * 2 * (degree - 1) / degree;
}

std::string advice_of(const Run& run) {
  std::string text;
  for (const Finding& finding : diagnose(run)) text += finding.advice + "\n";
  return text;
}

}  // namespace

TEST_CASE("the network carries what each GPU has of the layers, and NVLink their sums") {
  for (const int degree : {2, 4, 8}) {
    CAPTURE(degree);
    const Run run = run_of({"tensor.degree=" + std::to_string(degree)});
    const double ranks = 16.0 / degree;
    const double units = bytes_of_units(parts_of(run, degree), ranks);
    // Each group's ring leaves a node once, and the rings of all groups are alike.
    CHECK(value(run, "comm.network_bytes") == Approx(degree * units).epsilon(3e-3));
    CHECK(value(run, "comm.bytes") ==
          Approx(units + bytes_between_layers(2, degree)).epsilon(3e-3));
    CHECK(value(run, "link.utilization") <= 1);
  }
}

TEST_CASE("a GPU keeps of parameters and of what the optimizer keeps its part of its part") {
  const Run whole = run_of({});
  for (const int degree : {2, 4, 8}) {
    CAPTURE(degree);
    const Run run = run_of({"tensor.degree=" + std::to_string(degree)});
    const Parts parts = parts_of(run, degree);
    // AdamW keeps two numbers a parameter; memory is given in blocks of 512 bytes.
    CHECK(value(run, "memory.optimizer") ==
          Approx(2 * (parts.blocks + parts.root) / (16.0 / degree)).epsilon(0.04));
    CHECK(run.program->parameters == whole.program->parameters);
  }
}

TEST_CASE("with the vocabulary shared out, a GPU keeps its part of embedding and head, too") {
  const Settings gpt2{"model.name=gpt2", "data.name=tokens", "tensor.degree=4", "batch_size=1"};
  Settings shared = gpt2;
  shared.emplace_back("tensor.loss_parallel=true");
  const Run whole = run_of(gpt2), parts = run_of(shared);
  // Three quarters of its embedding, among four groups.
  const double embedding = kFloat * 50257 * 768;
  CHECK(value(whole, "memory.optimizer") - value(parts, "memory.optimizer") ==
        Approx(2 * 0.75 * embedding / 4).epsilon(0.02));
  for (const char* metric : {"comm.network_bytes", "memory.peak_allocated"})
    CHECK(value(parts, metric) < value(whole, metric));
}

TEST_CASE("as many samples ask for as much arithmetic, and FSDP's alone is what it was") {
  const Run alone = run_of({}), mesh = run_of({"tensor.degree=8", "batch_size=16"});
  CHECK(alone.program->samples_per_step == mesh.program->samples_per_step);
  CHECK(value(alone, "model.flops") == Approx(value(mesh, "model.flops")));
  CHECK(spans_of(run_of({"tensor.degree=1"})) == spans_of(alone));
}

TEST_CASE("no work of a stream overlaps another's on it, and gathers run beside kernels") {
  for (Settings more :
       {Settings{"tensor.degree=8"}, Settings{"tensor.degree=8", "tensor.sequence_parallel=true"},
        Settings{"tensor.degree=2", "accumulate_steps=2", "clip_grad_norm=1"}}) {
    more.emplace_back("batch_size=16");
    const Run run = run_of(more);
    std::map<trace::LaneId, std::vector<std::pair<Nanos, Nanos>>> of_lane;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
      CHECK_FALSE(run.trace->lanes()[span.lane].name.empty());
      if (run.trace->lanes()[span.lane].kind == trace::LaneKind::kStream)
        of_lane[span.lane].emplace_back(span.start, span.end());
    });
    CHECK(of_lane.size() == 3);
    for (auto& [lane, spans] : of_lane) {
      std::ranges::sort(spans);
      for (std::size_t i = 1; i < spans.size(); ++i) REQUIRE(spans[i - 1].second <= spans[i].first);
    }
    CHECK(value(run, "overlap.comm_compute") > 0.01);
  }
}

TEST_CASE("units are gathered and scattered between groups; what layers sum is no part of that") {
  for (const Settings& more : {Settings{"tensor.degree=8"},
                               Settings{"tensor.degree=8", "tensor.sequence_parallel=true"}}) {
    const Run run = run_of(more);
    CHECK(gradient_flow(*run.trace, run.program.get()).empty());
    const UnitTimes times = unit_times(*run.trace);
    CHECK(times.units.size() == static_cast<std::size_t>(kBlocks) + 1);
    int scatters = 0;
    for (const UnitStep& step : times.steps)
      for (const UnitVisit& visit : step.visits) {
        CHECK(visit.gather);
        CHECK_FALSE(visit.sum);
        scatters += visit.scatter ? 1 : 0;
      }
    CHECK(scatters == 4 * (static_cast<int>(kBlocks) + 1));
  }
}

TEST_CASE("ranks that hardly differ take as long between groups as one that stands for all") {
  for (const char* degree : {"tensor.degree=8", "tensor.degree=2"}) {
    CAPTURE(degree);
    const Run one = run_of({degree});
    const Run all = run_of({degree, "straggler.rank=9", "straggler.factor=1.0001"});
    CHECK(all.program->streams.size() == 16 * one.program->streams.size());
    CHECK(value(all, "time.step") == Approx(value(one, "time.step")).epsilon(0.01));
    CHECK(value(all, "comm.network_bytes") == Approx(value(one, "comm.network_bytes")));
  }
}

TEST_CASE("who gathers over the network is told to share layers within each node") {
  const Run alone = run_of({}), mesh = run_of({"tensor.degree=8"});
  CHECK_THAT(advice_of(alone), Contains("layers shared within each node (tensor.degree = 8)"));
  CHECK_THAT(advice_of(mesh), !Contains("tensor.degree") && !Contains("fsdp.shard_degree"));
  const std::vector<std::string> tried = settings_of(alone);
  CHECK(is_among(tried, "tensor.degree=8 batch_size=16"));
  CHECK(is_among(tried,
                 "tensor.degree=8 batch_size=16 tensor.sequence_parallel=true "
                 "tensor.loss_parallel=true"));
  CHECK_FALSE(is_among(settings_of(mesh), "tensor.degree=8 batch_size=16"));
  CHECK(is_among(settings_of(mesh), "parallel.strategy=fsdp tensor.degree=0"));
  // Within one node nothing goes over a network.
  for (const std::string& settings :
       settings_of(run_of({"machine=h200-8", "parallel.world_size=8"})))
    CHECK_THAT(settings, !Contains("tensor.degree=8"));
}
