// Tensor parallelism inside a node, data parallelism across, simulated: what goes where, and when.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string_view>

#include "analysis/causes/diagnosis.h"
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
  Settings settings{"workload=train",
                    "machine=h200-8x2",
                    "parallel.strategy=tensor",
                    "parallel.world_size=16",
                    "model.name=gpt-mini",
                    "data.name=text",
                    "model.width=512",
                    "model.heads=16",
                    "model.blocks=4",
                    "model.seq_len=256",
                    "batch_size=4",
                    "steps=4",
                    "loop.evaluate=false",
                    "collective.algorithm=ring"};
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

// Of a rank.
double parameter_bytes(const Run& run) {
  double bytes = 0;
  for (const program::Buffer& buffer : run.program->buffers)
    if (buffer.role == program::Role::kParameter) bytes += static_cast<double>(buffer.bytes);
  return bytes;
}

// Of each block, two sums in forward and two in backward.
double bytes_between_layers(double batch) {
  return kBlocks * 4 * batch * kTokens * kWidth * kFloat;
}

double sent_of(double ranks) {
  return 2 * (ranks - 1) / ranks;
}

}  // namespace

TEST_CASE("the network carries activations of a group over both nodes, and gradients between two") {
  const Run wide = run_of({}), mesh = run_of({"tensor.degree=8", "batch_size=2"});
  CHECK(value(wide, "comm.network_bytes") ==
        Approx(bytes_between_layers(4) * sent_of(16)).epsilon(1e-3));
  // Each of the eight pairs sums what its ranks have; an all-reduce of two sends what it sums.
  CHECK(value(mesh, "comm.network_bytes") ==
        Approx(8 * parameter_bytes(mesh) * sent_of(2)).epsilon(2e-3));
  CHECK(value(mesh, "comm.bytes") ==
        Approx(bytes_between_layers(2) * sent_of(8) + parameter_bytes(mesh) * sent_of(2))
            .epsilon(2e-3));
  CHECK(wide.program->samples_per_step == mesh.program->samples_per_step);
  CHECK(value(wide, "model.flops") == Approx(value(mesh, "model.flops")));
  for (const Run* run : {&wide, &mesh}) CHECK(value(*run, "link.utilization") <= 1);
}

TEST_CASE("other groups keep to the formula, too") {
  for (const int degree : {1, 2, 4}) {
    CAPTURE(degree);
    const Run run = run_of({"tensor.degree=" + std::to_string(degree)});
    const double replicas = 16.0 / degree;
    CHECK(value(run, "comm.network_bytes") ==
          Approx(degree * parameter_bytes(run) * sent_of(replicas)).epsilon(3e-3));
  }
}

TEST_CASE("groups of all ranks are what there was, to the nanosecond; of one, DDP's bytes") {
  CHECK(spans_of(run_of({"tensor.degree=16"})) == spans_of(run_of({})));
  const Run one = run_of({"tensor.degree=1"}), plain = run_of({"parallel.strategy=ddp"});
  for (const char* metric : {"comm.bytes", "comm.network_bytes", "ddp.buckets"})
    CHECK(value(one, metric) == value(plain, metric));
}

TEST_CASE("no work of a stream overlaps another's on it, and sums run beside backward") {
  for (const Settings& more :
       {Settings{"tensor.degree=8"}, Settings{"tensor.degree=8", "tensor.sequence_parallel=true"},
        Settings{"tensor.degree=2", "accumulate_steps=2"}}) {
    const Run run = run_of(more);
    std::map<trace::LaneId, std::vector<std::pair<Nanos, Nanos>>> of_lane;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
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

TEST_CASE("inside the node the same batch takes a shorter step") {
  const Run wide = run_of({"batch_size=64"}), mesh = run_of({"batch_size=32", "tensor.degree=8"});
  CHECK(value(mesh, "time.step") < value(wide, "time.step"));
  CHECK(value(mesh, "comm.exposed") < value(wide, "comm.exposed"));
}

TEST_CASE("ranks that hardly differ take as long in tensor groups as one that stands for all") {
  const Run one = run_of({"tensor.degree=8"});
  const Run all = run_of({"tensor.degree=8", "straggler.rank=9", "straggler.factor=1.0001"});
  CHECK(all.program->streams.size() == 16 * one.program->streams.size());
  CHECK(value(all, "time.step") == Approx(value(one, "time.step")).epsilon(0.01));
  CHECK(value(all, "comm.network_bytes") == Approx(value(one, "comm.network_bytes")));
  const Settings busy{"tensor.degree=8", "batch_size=64"};
  Settings slow = busy;
  slow.insert(slow.end(), {"straggler.rank=9", "straggler.factor=2"});
  CHECK(value(run_of(slow), "time.step") > 1.2 * value(run_of(busy), "time.step"));
}

TEST_CASE("gradients flow in the buckets alone, between ranks that have the same parts") {
  for (const Settings& more : {Settings{"tensor.degree=8"},
                               Settings{"tensor.degree=8", "tensor.sequence_parallel=true"}}) {
    const Run run = run_of(more);
    const GradientFlow flow = gradient_flow(*run.trace, run.program.get());
    CHECK(flow.ranks == 2);
    REQUIRE(flow.backwards.size() == 4);
    const BackwardFlow& last = flow.backwards.back();
    CHECK(last.buckets.size() == run.program->buckets.size());
    double bytes = 0;
    for (const BucketTimes& bucket : last.buckets) {
      CHECK_FALSE(bucket.gradients.empty());
      bytes += static_cast<double>(bucket.bytes);
    }
    CHECK(bytes == parameter_bytes(run));
  }
}

TEST_CASE("who sums layers over the network is told to keep them within a node") {
  const auto advice = [](const Run& run) {
    std::string text;
    for (const Finding& finding : diagnose(run)) text += finding.advice + "\n";
    return text;
  };
  const Run wide = run_of({}), mesh = run_of({"tensor.degree=8"});
  CHECK_THAT(advice(wide), Contains("tensor.degree = 8"));
  CHECK_THAT(advice(mesh), !Contains("tensor.degree"));
  CHECK(is_among(settings_of(wide), "tensor.degree=8 batch_size=2"));
  CHECK(is_among(settings_of(run_of({"batch_size=1"})), "tensor.degree=8"));
  for (const std::string& settings : settings_of(mesh))
    CHECK_THAT(settings, !Contains("degree") || Contains("parallel.strategy=fsdp tensor.degree=0"));
}
