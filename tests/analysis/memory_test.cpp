// Device memory of whole runs: metrics, the map at a time, what a program needs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "analysis/advice/memory_fit.h"
#include "analysis/runs/run_file.h"
#include "analysis/views/memory_counters.h"
#include "analysis/views/memory_map.h"
#include "sim/simulation.h"
#include "support/bench_program.h"
#include "support/config.h"
#include "support/metric_value.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"
#include "train/build.h"

using namespace trainscope;
using analysis::BlockState;
using analysis::MemoryNeed;
using analysis::Run;
using test::config_of;
using test::value;

namespace {

constexpr std::int64_t kMi = 1 << 20;

Run run(std::initializer_list<const char*> settings) {
  return analysis::run_config("A", config_of(settings));
}

MemoryNeed need(std::initializer_list<const char*> settings) {
  const program::Config config = config_of(settings);
  return analysis::memory_need(train::build_program(config, train::machine_of(config)));
}

}  // namespace

TEST_CASE("the peaks are the counters' highest values, fragmentation that at the first peak") {
  trace::Trace trace{trace::Origin{}};
  const auto allocated =
      trace.add_lane({"allocated memory", trace::LaneKind::kMemory, 0, 0, 0, 0, ""});
  const auto reserved =
      trace.add_lane({"reserved memory", trace::LaneKind::kMemory, 0, 0, 0, 0, ""});
  const auto role =
      trace.add_lane({"allocated: batch", trace::LaneKind::kMemoryRole, 0, 0, 0, 0, ""});
  CHECK_FALSE(analysis::memory_peaks(trace).allocated);
  trace.add_sample({10, 100, reserved});
  trace.add_sample({10, 40, allocated});
  trace.add_sample({20, 60, allocated});
  trace.add_sample({30, 200, reserved});
  trace.add_sample({40, 60, allocated});
  trace.add_sample({50, 999, role});
  const analysis::MemoryPeaks peaks = analysis::memory_peaks(trace);
  CHECK(peaks.allocated == 60);
  CHECK(peaks.reserved == 200);
  CHECK(peaks.fragmentation == Approx(0.4));
  CHECK_FALSE(analysis::alloc_retries(trace));
}

TEST_CASE("the peaks are the same in whatever order a file holds its samples") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<trace::Sample> samples;
    for (int i = 0; i < 60; ++i)
      samples.push_back(
          {i, static_cast<double>(random() % 8 + 1), static_cast<trace::LaneId>(random() % 2)});
    const auto peaks = [&] {
      trace::Trace trace{trace::Origin{}};
      trace.add_lane({"allocated memory", trace::LaneKind::kMemory, 0, 0, 0, 0, ""});
      trace.add_lane({"reserved memory", trace::LaneKind::kMemory, 0, 0, 0, 0, ""});
      for (const trace::Sample& sample : samples) trace.add_sample(sample);
      return analysis::memory_peaks(trace);
    };
    const analysis::MemoryPeaks ordered = peaks();
    std::shuffle(samples.begin(), samples.end(), random);
    const analysis::MemoryPeaks shuffled = peaks();
    REQUIRE(ordered.allocated == shuffled.allocated);
    REQUIRE(ordered.reserved == shuffled.reserved);
    REQUIRE(ordered.fragmentation == shuffled.fragmentation);
  }
}

TEST_CASE("a profiler's own counters of device memory have peaks too, those of the host do not") {
  trace::Trace trace{trace::Origin{}};
  const auto add = [&](const char* name, int device, double value) {
    trace.add_sample(
        {1, value, trace.add_lane({name, trace::LaneKind::kCounter, 0, device, 0, 0, ""})});
  };
  add("host memory allocated", -1, 9e9);
  add("GPU 0 memory allocated", 0, 30);
  add("GPU 0 memory reserved", 0, 40);
  add("GPU 1 memory allocated", 1, 50);
  add("GPU 1 memory reserved", 1, 200);
  add("queue", 0, 1e9);
  const analysis::MemoryPeaks peaks = analysis::memory_peaks(trace);
  CHECK(peaks.allocated == 50);
  CHECK(peaks.reserved == 200);
  CHECK(peaks.fragmentation == Approx(0.75));
}

TEST_CASE("a training run has memory metrics, which survive a Chrome trace and a saved run") {
  const Run a = run({"steps=3"});
  CHECK(value(a, "memory.peak_allocated") > 0);
  CHECK(value(a, "memory.peak_reserved") >= value(a, "memory.peak_allocated"));
  CHECK(value(a, "memory.fragmentation") ==
        Approx(1 - value(a, "memory.peak_allocated") / value(a, "memory.peak_reserved")).margin(1));
  CHECK(value(a, "memory.alloc_retries") == 0);
  std::ostringstream text;
  trace::write_chrome_trace(*a.trace, text, {});
  const auto again = trace::read_chrome_trace("a.json", text.str());
  const analysis::MemoryPeaks before = analysis::memory_peaks(*a.trace);
  const analysis::MemoryPeaks after = analysis::memory_peaks(*again);
  CHECK(after.allocated == before.allocated);
  CHECK(after.reserved == before.reserved);
  CHECK(after.fragmentation == before.fragmentation);
}

TEST_CASE("the map at any time adds up to the counters at that time") {
  for (const auto& settings :
       {std::initializer_list<const char*>{"steps=3"},
        {"steps=4", "transfer.prefetch=true", "transfer.streams=2", "transfer.non_blocking=true"},
        {"steps=3", "loop.item_every=1", "batch_size=8192"}}) {
    const Run one = run(settings);
    const trace::Trace& trace = *one.trace;
    std::map<trace::LaneId, double> now;
    int compared = 0;
    for (std::uint32_t i = 0; i < trace.samples().size(); ++i) {
      const trace::Sample& sample = trace.samples()[i];
      now[sample.lane] = sample.value;
      if (i + 1 < trace.samples().size() && trace.samples()[i + 1].time == sample.time) continue;
      std::map<std::string, double> sums;
      for (const analysis::MemorySegment& segment : analysis::memory_map(trace, sample.time)) {
        std::int64_t end = 0;
        for (const analysis::MemoryBlock& block : segment.blocks) {
          REQUIRE(block.offset == end);
          end += block.bytes;
          const auto bytes = static_cast<double>(block.bytes);
          if (block.state != BlockState::kAllocated) continue;
          sums["allocated memory"] += bytes;
          sums["allocated: " + trace.name(block.role)] += bytes;
          REQUIRE(block.requested <= block.bytes);
        }
        REQUIRE(end == segment.bytes);
        sums["reserved memory"] += static_cast<double>(segment.bytes);
      }
      for (const auto& [lane, value] : now) {
        if (trace.lanes()[lane].kind == trace::LaneKind::kCounter) continue;  // of SMs
        INFO(trace.lanes()[lane].name << " at " << sample.time);
        REQUIRE(sums[trace.lanes()[lane].name] == value);
        compared += value > 0 ? 1 : 0;
      }
    }
    CHECK(compared > 100);
    CHECK(analysis::memory_map(trace, -1).empty());
  }
}

TEST_CASE("what a program needs is what its run has at the peak, role by role") {
  for (const auto& settings : {std::initializer_list<const char*>{"steps=3"},
                               {"steps=3", "model.hidden=1024"},
                               {"steps=2", "batch_size=8192"},
                               {"steps=1", "model.layers=4"},
                               {"steps=4", "transfer.prefetch=true", "transfer.streams=2"}}) {
    const Run one = run(settings);
    const MemoryNeed needed = analysis::memory_need(*one.program);
    CHECK(static_cast<double>(needed.allocated) == value(one, "memory.peak_allocated"));
    CHECK(static_cast<double>(needed.reserved) == value(one, "memory.peak_reserved"));
    std::array<std::int64_t, program::kRoles> held{};
    const auto blocks = analysis::held_at_peak(*one.trace);
    REQUIRE(blocks.size() == needed.holders.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      CHECK(blocks[i].bytes == needed.holders[i].bytes);
      for (std::size_t role = 0; role < held.size(); ++role)
        if (program::name_of(static_cast<program::Role>(role)) == one.trace->name(blocks[i].role))
          held[role] += blocks[i].bytes;
    }
    CHECK(held == needed.by_role);
    CHECK(std::accumulate(held.begin(), held.end(), std::int64_t{0}) == needed.allocated);
  }
}

TEST_CASE("parts that are views of another buffer need no memory of their own") {
  for (const auto& settings :
       {std::initializer_list<const char*>{"steps=3", "machine=h200-8", "model.name=gpt2",
                                           "batch_size=2", "parallel.strategy=fsdp",
                                           "parallel.world_size=4", "optimizer.name=adamw"},
        {"steps=3", "model.name=gpt2", "batch_size=2", "compile.fuse=true"},
        {"steps=4", "model.name=gpt2", "batch_size=2", "compile.cuda_graph=true"}}) {
    const Run one = run(settings);
    const MemoryNeed needed = analysis::memory_need(*one.program);
    CHECK(static_cast<double>(needed.allocated) ==
          Approx(value(one, "memory.peak_allocated")).epsilon(0.001));
  }
}

TEST_CASE("the roles' metrics add up to the peak, and follow the optimizer and the batch") {
  const char* const roles[] = {"memory.parameters",  "memory.gradients", "memory.optimizer",
                               "memory.activations", "memory.batch",     "memory.workspace"};
  const Run sgd = run({"steps=2", "model.hidden=512", "batch_size=256"});
  const Run adam = run({"steps=2", "model.hidden=512", "batch_size=256", "optimizer.name=adamw"});
  for (const Run* one : {&sgd, &adam}) {
    double sum = 0;
    for (const char* role : roles) sum += value(*one, role);
    CHECK(sum == value(*one, "memory.peak_allocated"));
    const double weights = 4.0 * value(*one, "model.parameters");
    CHECK(value(*one, "memory.parameters") == Approx(weights).epsilon(0.01));
    CHECK(value(*one, "memory.gradients") == Approx(weights).epsilon(0.01));
  }
  CHECK(value(sgd, "memory.optimizer") == 0);
  // Two moments of each parameter; its count of steps is a number on the host.
  CHECK(value(adam, "memory.optimizer") ==
        Approx(2 * value(adam, "memory.parameters")).epsilon(0.01));
}

TEST_CASE("a run that does not count its memory has no roles either") {
  for (const auto& settings :
       {std::initializer_list<const char*>{"workload=copy"}, {"steps=2", "device=cpu"}})
    for (const char* role : {"memory.batch", "memory.parameters", "memory.workspace"})
      CHECK(!analysis::value_of(run(settings).metrics, role));
}

TEST_CASE("a run that trains nothing has no 0 B of parameters") {
  const Run gemm = run({"workload=gemm", "steps=2"});
  CHECK(value(gemm, "memory.batch") > 0);
  CHECK(value(gemm, "memory.workspace") > 0);
  for (const char* role :
       {"memory.parameters", "memory.gradients", "memory.optimizer", "memory.activations"}) {
    INFO(role);
    CHECK(!analysis::value_of(gemm.metrics, role));
  }
}

// The classroom MLP, 784-128-10: 101770 weights of 4 B, and as much of gradients.
TEST_CASE("the need of the classroom model is the sum of its tensors, each rounded up to 512 B") {
  const MemoryNeed needed = need({"steps=2", "batch_size=64", "transfer.prefetch=false"});
  const auto of = [&](program::Role role) {
    return needed.by_role[static_cast<std::size_t>(role)];
  };
  constexpr std::int64_t kWeights = (101770 * 4 + 511) / 512 * 512;
  CHECK(of(program::Role::kParameter) == kWeights);
  CHECK(of(program::Role::kGradient) == kWeights);
  CHECK(of(program::Role::kBatch) == 64 * 784 * 4 + 64 * 8);
  CHECK(of(program::Role::kOptimizerState) == 0);
}

TEST_CASE("whether a program fits is what its run says") {
  for (const std::int64_t capacity : {2, 4, 40, 90, 100, 120, 160}) {
    test::BenchProgram bench;  // 64 MiB from the start
    bench.program.buffers.push_back(
        {"a", 30 * kMi, program::MemoryKind::kDevice, program::Role::kActivation});
    bench.program.buffers.push_back(
        {"b", 40 * kMi, program::MemoryKind::kDevice, program::Role::kActivation});
    bench.add(program::Alloc{3, 0});
    bench.add(program::Free{3});
    bench.add(program::Alloc{4, 0});
    bench.machine.gpu.memory_bytes = capacity * kMi;
    sim::Simulation simulation(bench.program, bench.machine, "native", bench.trace);
    simulation.finish();
    INFO(capacity);
    CHECK(analysis::fits(bench.program, capacity * kMi) == !simulation.out_of_memory());
    CHECK(analysis::fits(bench.program, capacity * kMi) == (capacity >= 104));
    CHECK(analysis::memory_need(bench.program).reserved == (64 + 30 + 40) * kMi);
  }
}

TEST_CASE("the largest batch that fits is found by bisection, also at the ends") {
  for (std::int64_t answer = 0; answer <= 70; ++answer) {
    int asked = 0;
    const auto peak = [&](std::int64_t batch) {
      ++asked;
      return 1000 + 10 * batch;
    };
    CHECK(analysis::largest_batch(peak, 1009 + 10 * answer, 64) ==
          std::min<std::int64_t>(answer, 64));
    CHECK(asked <= 14);
  }
  CHECK(analysis::largest_batch([](auto) { return 1; }, 1, INT64_MAX) == INT64_MAX);
}

TEST_CASE("the largest batch of the classroom model is the last whose run does not fail") {
  const machine::Machine machine = machine::load_machine("t4-1");
  const auto at = [](std::int64_t batch) {
    program::Config config =
        config_of({"steps=1", "machine=t4-1", "model.hidden=8192", "model.layers=8"});
    config.set("batch_size", batch);
    return config;
  };
  const auto peak = [&](std::int64_t batch) {
    return analysis::memory_need(train::build_program(at(batch), machine)).reserved;
  };
  const std::int64_t most = 1 << 16;
  const std::int64_t room = machine::room_of_allocator(machine);
  CHECK(room < machine.gpu.memory_bytes);
  const std::int64_t batch = analysis::largest_batch(peak, room, most);
  REQUIRE(batch < most);
  CHECK(peak(batch) <= room);
  CHECK_FALSE(analysis::run_config("A", at(batch)).ending);
  CHECK(analysis::run_config("A", at(batch + 1)).ending);
}

TEST_CASE(
    "a run out of memory is a result: metrics up to there, saved and opened with its reason") {
  const Run full = run({"workload=train", "machine=t4-1", "steps=3", "batch_size=65536",
                        "model.hidden=8192", "model.layers=8", "data.source=tensor"});
  REQUIRE(full.ending);
  CHECK(std::get<sim::OutOfMemory>(*full.ending).buffer.starts_with("relu "));
  CHECK(value(full, "memory.peak_allocated") > 0);
  CHECK(value(full, "memory.alloc_retries") == 1);
  CHECK(value(full, "time.total") > 0);
  analysis::SavedRuns saved;
  saved.runs.push_back(std::make_shared<const Run>(full));
  const std::string bytes = analysis::pack_runs(saved);
  const auto again = analysis::unpack_runs(bytes, "t.tsrun");
  CHECK(analysis::pack_runs(again) == bytes);
  REQUIRE(again.runs[0]->ending);
  CHECK(sim::sentence(*again.runs[0]->ending) == sim::sentence(*full.ending));
  CHECK(again.runs[0]->trace->allocator_events().size() == full.trace->allocator_events().size());
}

TEST_CASE(
    "a copy of more than the device has ends before it begins, and is analysed all the same") {
  const Run full = run({"workload=copy", "copy.bytes=100 GiB", "machine=t4-1"});
  REQUIRE(full.ending);
  CHECK(std::get<sim::OutOfMemory>(*full.ending).buffer == "y");
  CHECK(full.trace->spans().empty());
  CHECK(!analysis::value_of(full.metrics, "time.total"));
}

TEST_CASE("memory rises above its least within a time, on the GPU where it rises most") {
  trace::Trace trace(trace::Origin{});
  const auto lane = [&](const char* name, int device) {
    trace::Lane counter;
    counter.name = name;
    counter.kind = trace::LaneKind::kCounter;
    counter.device = device;
    return trace.add_lane(counter);
  };
  const trace::LaneId first = lane("GPU 0 memory allocated", 0);
  const trace::LaneId second = lane("GPU 1 memory above its least", 1);
  const trace::LaneId host = lane("host memory allocated", -1);
  // What holds at 100 was written before; 500 comes after the time. In no order.
  for (const auto& [at, bytes] : {std::pair{150, 90.0}, {20, 70.0}, {90, 40.0}, {500, 900.0}})
    trace.add_sample({at, bytes, first});
  for (const auto& [at, bytes] : {std::pair{110, 10.0}, {130, 35.0}})
    trace.add_sample({at, bytes, second});
  trace.add_sample({120, 1e6, host});
  trace.add_sample({130, 2e6, host});
  CHECK(analysis::memory_rise(trace, 100, 500) == 50.0);
  CHECK(analysis::memory_rise(trace, 100, 140) == 25.0);
  CHECK(analysis::memory_rise(trace, 0, 1000) == 860.0);
  CHECK_FALSE(analysis::memory_rise(trace::Trace(trace::Origin{}), 0, 100));
}
