// nn.DataParallel's transfers, by hand.
#include "analysis/views/star_flow.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"

using namespace trainscope;
using namespace trainscope::analysis;
using trace::Category;
using trace::LaneKind;

namespace {

// One step of three GPUs, in nanoseconds. Calls come in the order of the spans.
class Hand {
 public:
  Hand() {
    host_ = lane(LaneKind::kHostThread, -1);
    for (int gpu = 0; gpu < 3; ++gpu) streams_.push_back(lane(LaneKind::kStream, gpu));
  }
  void copy(int from, Nanos start, Nanos end, std::int64_t bytes) {
    trace::CopyDetail detail;
    detail.bytes = bytes;
    put(streams_.at(static_cast<std::size_t>(from)), start, end, "Memcpy PtoP (Device -> Device)",
        Category::kCopyD2D, trace_.add_detail(detail));
  }
  void collective(const char* name, Nanos start, Nanos end, std::int64_t numbers) {
    trace::CollectiveDetail detail;
    detail.elements_in = detail.elements_out = numbers;
    for (const trace::LaneId stream : streams_)
      put(stream, start, end, name, Category::kCollective, trace_.add_detail(detail));
  }
  void kernel(int gpu, Nanos start, Nanos end, Category category) {
    put(streams_.at(static_cast<std::size_t>(gpu)), start, end, "kernel", category, trace::kNone);
  }
  StarFlow flow() const { return star_flow(trace_); }

 private:
  trace::LaneId lane(LaneKind kind, int device) {
    trace::Lane lane;
    lane.kind = kind;
    lane.device = device;
    return trace_.add_lane(lane);
  }
  void put(trace::LaneId lane, Nanos start, Nanos end, const char* name, Category category,
           trace::DetailId detail) {
    trace::Span span;
    span.lane = lane;
    span.start = start;
    span.duration = end - start;
    span.name = trace_.intern(name);
    span.category = category;
    span.detail = detail;
    span.correlation = ++correlation_;
    trace_.add_span(span);
    span.lane = host_;
    span.start = call_++;
    span.duration = 1;
    span.name = trace_.intern("cudaLaunchKernel");
    span.category = Category::kHostApi;
    span.detail = trace::kNone;
    trace_.add_span(span);
  }

  trace::Trace trace_{trace::Origin{}};
  trace::LaneId host_ = 0;
  std::vector<trace::LaneId> streams_;
  std::uint32_t correlation_ = 0;
  Nanos call_ = 0;
};

}  // namespace

TEST_CASE("a step of DataParallel goes out from GPU 0 and comes back to it, twice") {
  Hand hand;
  hand.copy(0, 100, 110, 40);
  hand.copy(0, 110, 120, 40);
  hand.collective("ncclDevKernel_Broadcast_RING_LL", 120, 200, 1000);
  for (int gpu = 0; gpu < 3; ++gpu) hand.kernel(gpu, 200, 300, Category::kForward);
  hand.copy(1, 300, 304, 8);
  hand.copy(2, 304, 310, 8);
  hand.kernel(0, 308, 320, Category::kForward);
  hand.copy(0, 320, 324, 8);
  hand.copy(0, 324, 328, 8);
  for (int gpu = 0; gpu < 3; ++gpu) hand.kernel(gpu, 330, 500, Category::kBackward);
  hand.collective("ncclDevKernel_Reduce_Sum_f32_RING_LL", 500, 600, 1000);
  hand.kernel(0, 600, 650, Category::kOptimizer);
  const StarFlow flow = hand.flow();
  REQUIRE(flow.gpus.size() == 3);
  REQUIRE(flow.steps.size() == 1);
  const std::vector<StarStageTimes>& stages = flow.steps[0].stages;
  REQUIRE(stages.size() == 5);
  const struct {
    StarStage stage;
    std::size_t transfers;
    std::int64_t bytes;
    Nanos start, end, exposed;
  } expected[] = {{StarStage::kScatter, 2, 80, 100, 120, 20},
                  {StarStage::kReplicate, 1, 8000, 120, 200, 80},
                  {StarStage::kGather, 2, 16, 300, 310, 8},
                  {StarStage::kScatterGradient, 2, 16, 320, 328, 8},
                  {StarStage::kReduce, 1, 8000, 500, 600, 100}};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(name_of(expected[i].stage));
    CHECK(stages[i].stage == expected[i].stage);
    CHECK(stages[i].transfers.size() == expected[i].transfers);
    CHECK(stages[i].bytes == expected[i].bytes);
    CHECK(stages[i].start == expected[i].start);
    CHECK(stages[i].end == expected[i].end);
    CHECK(stages[i].exposed == expected[i].exposed);
  }
  CHECK(stages[0].transfers[0].other == 1);
  CHECK(stages[0].transfers[1].other == 2);
  CHECK(stages[1].transfers[0].other == StarTransfer::kAll);
  CHECK(stages[2].transfers[0].other == 1);
  CHECK(stages[3].transfers[1].other == 2);
  CHECK(leaves_gpu0(StarStage::kReplicate));
  CHECK_FALSE(leaves_gpu0(StarStage::kReduce));
  CHECK(flow.gpus[0].optimizer.length() == 50);
  CHECK(flow.gpus[1].all().length() == 270);
}

TEST_CASE("DataParallel's steps have all five stages, each as many bytes as the model has") {
  program::Config config;
  for (const char* setting :
       {"workload=train", "parallel.strategy=dp", "parallel.world_size=4", "machine=dgx1-v100-8",
        "model.name=resnet18", "batch_size=16", "steps=3"})
    config.set_text(setting);
  const Run run = run_config("A", config);
  const StarFlow flow = star_flow(*run.trace);
  CHECK(flow.gpus.size() == 4);
  REQUIRE(flow.steps.size() == 3);
  for (const StarStep& step : flow.steps) {
    std::vector<StarStage> stages;
    for (const StarStageTimes& one : step.stages) stages.push_back(one.stage);
    CHECK(stages == std::vector<StarStage>{StarStage::kScatter, StarStage::kReplicate,
                                           StarStage::kGather, StarStage::kScatterGradient,
                                           StarStage::kReduce});
    CHECK(step.stages[0].transfers.size() == 3);
    CHECK(step.stages[2].transfers.size() == 3);
    CHECK(step.stages[4].bytes == 3 * 4 * run.program->parameters);
    CHECK(step.stages[1].bytes >= step.stages[4].bytes);  // buffers go with the parameters
    for (const StarStageTimes& one : step.stages) {
      CHECK(one.start < one.end);
      CHECK(one.exposed <= one.end - one.start);
    }
  }
  CHECK(flow.at(0).step == 0);
  CHECK(flow.at(run.trace->end()).step == 2);
}

TEST_CASE("a trace of one GPU has no star") {
  trace::Trace trace{trace::Origin{}};
  trace::Lane lane;
  lane.kind = LaneKind::kStream;
  lane.device = 0;
  trace.add_lane(lane);
  CHECK(star_flow(trace).empty());
}
