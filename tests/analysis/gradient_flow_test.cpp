// Gradients, buckets and exposed communication: by hand, on random runs, on a real trace.
#include "analysis/views/gradient_flow.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "analysis/causes/partition.h"
#include "analysis/runs/run.h"
#include "base/temporary_folder.h"
#include "support/skip.h"
#include "support/step_facts.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"

using namespace trainscope;
using namespace trainscope::analysis;
using trace::Category;
using trace::LaneKind;

namespace {

// A trace by hand, in nanoseconds: calls of a host, kernels and all-reduces of a GPU.
class Hand {
 public:
  Hand() {
    host_ = lane(LaneKind::kHostThread, -1);
    compute_ = lane(LaneKind::kStream, 0);
    comm_ = lane(LaneKind::kStream, 0);
  }
  void kernel(Nanos call, Nanos start, Nanos end, const char* framework = "aten::mm") {
    launch(call, framework);
    put(compute_, start, end, "kernel", Category::kBackward);
  }
  void gradient(Nanos call, Nanos start, Nanos end) {
    kernel(call, start, end, "torch::distributed::reducer::mul_out");
  }
  void all_reduce(Nanos call, Nanos start, Nanos end, std::int64_t numbers,
                  const char* operation = "allreduce",
                  const char* kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL") {
    launch(call, "c10d::allreduce_");
    trace::CollectiveDetail detail;
    detail.operation = operation;
    detail.type = "Float";
    detail.elements_in = detail.elements_out = numbers;
    detail.group_size = 4;
    put(comm_, start, end, kernel, Category::kCollective, trace_.add_detail(detail));
  }
  GradientFlow flow() const { return gradient_flow(trace_, nullptr); }

 private:
  trace::LaneId lane(LaneKind kind, int device) {
    trace::Lane lane;
    lane.kind = kind;
    lane.device = device;
    return trace_.add_lane(lane);
  }
  void launch(Nanos call, const char* framework) {
    ++correlation_;
    put(host_, call - 2, call + 2, framework, Category::kHostWork, trace::kNone, false);
    put(host_, call, call + 1, "cudaLaunchKernel", Category::kHostApi);
  }
  void put(trace::LaneId lane, Nanos start, Nanos end, const char* name, Category category,
           trace::DetailId detail = trace::kNone, bool correlated = true) {
    trace::Span span;
    span.lane = lane;
    span.start = start;
    span.duration = end - start;
    span.name = trace_.intern(name);
    span.category = category;
    span.detail = detail;
    if (correlated) span.correlation = correlation_;
    trace_.add_span(span);
  }

  trace::Trace trace_{trace::Origin{}};
  trace::LaneId host_ = 0, compute_ = 0, comm_ = 0;
  std::uint32_t correlation_ = 0;
};

std::shared_ptr<Run> run(const std::vector<std::string>& settings) {
  program::Config config;
  for (const char* setting : {"workload=train", "parallel.strategy=ddp", "parallel.world_size=4",
                              "machine=dgx1-v100-8", "batch_size=4", "steps=4"})
    config.set_text(setting);
  for (const std::string& setting : settings) config.set_text(setting);
  return std::make_shared<Run>(run_config("A", config));
}

GradientFlow flow_of(const Run& run) {
  return gradient_flow(*run.trace, run.program.get());
}

// Every step's exposed communication, as the partition has it.
void check_partition(const Run& run, const GradientFlow& flow) {
  const std::vector<RankedStep> steps = ranked_steps(*run.trace);
  REQUIRE(flow.steps.size() == steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Partition parts =
        partition(test::measure_step(*run.trace, run.program.get(), run.machine.get(), steps[i]));
    INFO("step " << i);
    CHECK(flow.steps[i].buckets + flow.steps[i].others == parts[Part::kExposedCommunication]);
  }
}

void check_order(const BucketTimes& bucket) {
  REQUIRE(bucket.ready);
  CHECK(bucket.launched <= bucket.started);
  CHECK(*bucket.ready <= bucket.started);
  CHECK(bucket.started < bucket.done);
  CHECK(bucket.exposed >= 0);
  CHECK(bucket.exposed <= bucket.done - bucket.started);
  CHECK(share_ready(bucket, *bucket.ready) == 1);
  CHECK(share_ready(bucket, bucket.gradients.front().ready - 1) < 1);
}

}  // namespace

TEST_CASE("two buckets by hand: what was ready when, and what had nothing beside it") {
  Hand hand;
  hand.kernel(100, 200, 300);
  hand.gradient(110, 300, 310);
  hand.gradient(120, 310, 330);
  hand.all_reduce(130, 340, 500, 1000);
  hand.kernel(140, 330, 450);
  hand.gradient(150, 450, 460);
  hand.all_reduce(160, 500, 700, 500);
  hand.kernel(170, 600, 650);
  const GradientFlow flow = hand.flow();
  CHECK(flow.ranks == 4);
  REQUIRE(flow.backwards.size() == 1);
  const std::vector<BucketTimes>& buckets = flow.backwards[0].buckets;
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].gradients.size() == 2);
  CHECK(buckets[0].bytes == 4000);
  CHECK(buckets[0].ready == 330);
  CHECK(buckets[0].launched == 130);
  CHECK(buckets[0].started == 340);
  CHECK(buckets[0].done == 500);
  CHECK(buckets[0].exposed == 40);  // 460 .. 500
  CHECK(buckets[1].gradients.size() == 1);
  CHECK(buckets[1].bytes == 2000);
  CHECK(buckets[1].ready == 460);
  CHECK(buckets[1].exposed == 150);  // 500 .. 600, 650 .. 700
  REQUIRE(flow.steps.size() == 1);
  CHECK(flow.steps[0].buckets == 190);
  CHECK(flow.steps[0].others == 0);
  CHECK(flow.backwards[0].begun() == 310);
  CHECK(flow.backwards[0].done() == 700);
}

TEST_CASE("a bucket fills, closes, is summed and is done") {
  Hand hand;
  hand.gradient(110, 300, 310);
  hand.gradient(120, 310, 330);
  hand.all_reduce(130, 340, 540, 1000);
  const GradientFlow flow = hand.flow();
  const BucketTimes& bucket = flow.at(0).buckets[0];
  CHECK(share_ready(bucket, 309) == 0);
  CHECK(share_ready(bucket, 310) == 0.5);
  CHECK(share_ready(bucket, 330) == 1);
  CHECK(state_at(bucket, 329) == BucketState::kFilling);
  CHECK(state_at(bucket, 330) == BucketState::kReady);
  CHECK(state_at(bucket, 340) == BucketState::kRunning);
  CHECK(state_at(bucket, 540) == BucketState::kDone);
  CHECK(share_summed(bucket, 340) == 0);
  CHECK(share_summed(bucket, 390) == 0.25);
  CHECK(share_summed(bucket, 540) == 1);
}

TEST_CASE("an all-reduce that no gradient was written for is no bucket") {
  Hand hand;
  hand.gradient(110, 300, 310);
  hand.all_reduce(130, 340, 540, 1000);
  hand.all_reduce(140, 540, 560, 1);
  const GradientFlow flow = hand.flow();
  REQUIRE(flow.backwards.size() == 1);
  CHECK(flow.backwards[0].buckets.size() == 1);
  CHECK(flow.steps[0].buckets == 200);
  CHECK(flow.steps[0].others == 20);
}

TEST_CASE("a bucket's sum is one under each of PyTorch's names, and what is told counts") {
  const auto buckets = [](const char* operation, const char* kernel) {
    Hand hand;
    hand.gradient(110, 300, 310);
    hand.all_reduce(130, 340, 540, 1000, operation, kernel);
    const GradientFlow flow = hand.flow();
    return flow.backwards.empty() ? 0 : flow.backwards[0].buckets.size();
  };
  for (const char* name : {"allreduce", "_allreduce_base", "allreduce_coalesced"})
    CHECK(buckets(name, "ncclDevKernel_Generic") == 1);
  CHECK(buckets("", "ncclDevKernel_AllReduce_Sum_f32_RING_LL") == 1);
  CHECK(buckets("reduce_scatter", "ncclDevKernel_Generic") == 0);
}

TEST_CASE("a trace without DistributedDataParallel has no gradient flow") {
  Hand hand;
  hand.kernel(100, 200, 300);
  hand.all_reduce(130, 340, 540, 1000);
  CHECK(hand.flow().empty());
  CHECK(gradient_flow(trace::Trace{trace::Origin{}}, nullptr).empty());
  CHECK(flow_of(*run({"parallel.strategy=none", "parallel.world_size=1"})).empty());
}

TEST_CASE("the first backward has one bucket of everything, the others PyTorch's") {
  const auto one = run({"model.name=resnet50", "steps=3"});
  const GradientFlow flow = flow_of(*one);
  CHECK(flow.ranks == 4);
  REQUIRE(flow.backwards.size() == 3);
  CHECK(flow.backwards[0].buckets.size() == 1);
  CHECK(flow.backwards[0].buckets[0].gradients.size() == 161);
  // What PyTorch's profiler saw on two A100 (ddp-a100-2ranks).
  const std::int64_t numbers[] = {2049000, 7875584, 6563840, 6637568, 2431040};
  for (const int step : {1, 2}) {
    const BackwardFlow& backward = flow.backwards[static_cast<std::size_t>(step)];
    CHECK(backward.step == step);
    REQUIRE(backward.buckets.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(backward.buckets[i].bytes == 4 * numbers[i]);
  }
  CHECK(flow.backwards[1].buckets[0].gradients.front().parameter == "fc.bias");
  CHECK(&flow.at(0) == &flow.backwards[0]);
  CHECK(&flow.at(flow.backwards[1].begun()) == &flow.backwards[1]);
  CHECK(&flow.at(flow.backwards[2].begun() - 1) == &flow.backwards[1]);
  CHECK(&flow.at(one->trace->end()) == &flow.backwards[2]);
}

TEST_CASE("whatever the knobs, each gradient is in one bucket, and what is exposed is the step's") {
  const std::pair<const char*, std::vector<const char*>> knobs[] = {
      {"model.name", {"mlp", "cnn", "gpt-mini", "resnet18"}},
      {"ddp.bucket_cap_mb", {"0.1", "1", "5", "25"}},
      {"ddp.find_unused_parameters", {"false", "true"}},
      {"ddp.gradient_as_bucket_view", {"false", "true"}},
      {"ddp.broadcast_buffers", {"false", "true"}},
      {"ddp.comm_hook", {"none", "none", "fp16_compress", "bf16_compress"}},
      {"accumulate_steps", {"2", "3"}},
      {"ddp.no_sync", {"false", "true"}},
      {"parallel.world_size", {"1", "2", "4", "8"}},
      {"scaler.enabled", {"false", "true"}},
      {"collective.algorithm", {"auto", "ring"}},
      {"host.profile", {"pytorch-eager", "native"}},
      {"machine", {"dgx1-v100-8", "h100-sxm-8", "h200-8x2"}}};
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> settings;
    std::string all;
    for (const auto& [knob, values] : knobs) {
      settings.push_back(std::string(knob) + "=" + values[random() % values.size()]);
      all += settings.back() + " ";
    }
    INFO(seed << ": " << all);
    const bool is_hooked = all.find("comm_hook=none") == std::string::npos;
    // Views that a hook reads where they are: no kernel tells of them.
    const bool tells = !is_hooked || all.find("view=true") == std::string::npos;
    if (random() % 2 == 0)
      settings.insert(settings.end(), {"ddp.no_sync=false", "accumulate_steps=1"});
    const auto one = run(settings);
    const GradientFlow flow = flow_of(*one);
    REQUIRE_FALSE(flow.empty());
    check_partition(*one, flow);
    Nanos exposed = 0;
    for (const IdleGap& gap : one->exposed) exposed += gap.end - gap.start;
    CHECK(exposed == partition(one->facts.measured)[Part::kExposedCommunication]);
    for (const BackwardFlow& backward : flow.backwards) {
      std::set<std::string> parameters;
      std::size_t gradients = 0;
      for (const BucketTimes& bucket : backward.buckets) {
        std::int64_t bytes = 0;
        for (const BucketGradient& gradient : bucket.gradients) {
          parameters.insert(gradient.parameter);
          ++gradients;
          bytes += gradient.bytes;
        }
        CHECK(bytes == (tells ? (is_hooked ? 2 : 1) * bucket.bytes : 0));
        if (tells) check_order(bucket);
      }
      CHECK(parameters.size() == gradients);
    }
    std::size_t in_buckets = 0;
    for (const program::Bucket& bucket : one->program->buckets)
      in_buckets += bucket.gradients.size();
    std::size_t found = 0;
    for (const BucketTimes& bucket : flow.backwards.back().buckets)
      found += bucket.gradients.size();
    CHECK(found == (tells ? in_buckets : 0));
  }
}

TEST_CASE("of ranks that differ, the gradients are those of the one that metrics are about") {
  const auto one = run({"model.name=resnet18", "straggler.rank=2", "straggler.factor=1.5"});
  const GradientFlow flow = flow_of(*one);
  REQUIRE(flow.backwards.size() == 4);
  CHECK(flow.rank == one->facts.measured.rank);
  check_partition(*one, flow);
  for (const BucketTimes& bucket : flow.backwards.back().buckets) check_order(bucket);
  CHECK_FALSE(flow_of(*run({"model.name=resnet18"})).rank);
}

TEST_CASE("a Chrome trace of a run tells the same of its buckets, but for the names") {
  const auto one = run({"model.name=resnet18"});
  const test::TemporaryFolder folder;
  trace::write_chrome_trace(*one->trace, folder.path() / "trace.json");
  const auto read = trace::read_chrome_trace(folder.path() / "trace.json");
  const GradientFlow own = flow_of(*one), other = gradient_flow(*read, nullptr);
  REQUIRE(other.backwards.size() == own.backwards.size());
  for (std::size_t i = 0; i < own.backwards.size(); ++i) {
    CHECK(other.backwards[i].step == own.backwards[i].step);
    REQUIRE(other.backwards[i].buckets.size() == own.backwards[i].buckets.size());
    for (std::size_t j = 0; j < own.backwards[i].buckets.size(); ++j) {
      const BucketTimes &a = own.backwards[i].buckets[j], &b = other.backwards[i].buckets[j];
      CHECK(b.bytes == a.bytes);
      CHECK(b.ready == a.ready);
      CHECK(b.launched == a.launched);
      CHECK(b.started == a.started);
      CHECK(b.done == a.done);
      CHECK(b.exposed == a.exposed);
      CHECK(b.gradients.size() == a.gradients.size());
    }
  }
}

TEST_CASE("a real trace of two A100 has PyTorch's five buckets of resnet50 in each step") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces here");
  const auto trace =
      trace::read_chrome_trace(test::real_traces_folder() / "ddp-a100-2ranks.json.gz");
  const GradientFlow flow = gradient_flow(*trace, nullptr);
  CHECK(flow.ranks == 2);
  REQUIRE(flow.backwards.size() == 3);
  CHECK(flow.backwards[0].step == 0);
  CHECK(flow.backwards[0].number == 4);  // ProfilerStep#4
  for (const BackwardFlow& backward : flow.backwards) {
    REQUIRE(backward.buckets.size() == 5);
    std::size_t gradients = 0;
    for (const BucketTimes& bucket : backward.buckets) gradients += bucket.gradients.size();
    CHECK(gradients == 161);
    const std::int64_t numbers[] = {2049000, 7875584, 6563840, 6637568, 2431040};
    for (std::size_t i = 0; i < 5; ++i) CHECK(backward.buckets[i].bytes == 4 * numbers[i]);
    for (const BucketTimes& bucket : backward.buckets) check_order(bucket);
  }
}
