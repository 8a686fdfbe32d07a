// The SM array against the same rules told block by block, and what people know of waves.
#include "sim/sm_array.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "machine/machine.h"
#include "sim/block_cost.h"
#include "sim/lone_runs.h"
#include "sim/plain_sms.h"
#include "sim/sm_run.h"

using namespace trainscope;
using namespace trainscope::sim;
using Catch::Matchers::Contains;
using test::Arrival;

namespace {

struct Fast {
  std::vector<Nanos> ends;
  SmUse use;
};

// Moments between events are asked for too: they must change nothing.
Fast run_fast(const SmLimits& limits, const std::vector<Arrival>& arrivals,
              const std::vector<test::Aside>& asides = {},
              std::shared_ptr<LoneRuns> known = nullptr) {
  SmArray array(limits, std::move(known));
  Fast result;
  result.ends.resize(arrivals.size());
  const auto until = [&](Nanos time) {
    while (!array.idle() && array.next_event() <= time) {
      const Nanos now = array.next_event();
      for (const std::uint32_t kernel : array.finish(now)) result.ends[kernel] = now;
    }
  };
  std::size_t changes = 0;
  const auto change_before = [&](Nanos time) {
    for (; changes < asides.size() && asides[changes].time < time; ++changes) {
      until(asides[changes].time - 1);
      array.set_aside(asides[changes].time, asides[changes].what);
    }
  };
  for (std::uint32_t k = 0; k < arrivals.size(); ++k) {
    change_before(arrivals[k].time);
    until(arrivals[k].time - 1);
    array.admit(arrivals[k].time, k, arrivals[k].cost, arrivals[k].blocks, arrivals[k].priority);
  }
  while (!array.idle() && changes < asides.size()) {
    until(std::min(asides[changes].time - 1, array.next_event()));
    if (!array.idle() && array.next_event() >= asides[changes].time)
      change_before(asides[changes].time + 1);
  }
  until(std::numeric_limits<Nanos>::max());
  result.use = array.use();
  return result;
}

BlockCost random_cost(std::mt19937& random, const SmLimits& limits) {
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  BlockCost cost;
  if (upto(3) > 0) cost.arithmetic = upto(200 * kArithmeticRate);
  if (upto(3) > 0) cost.memory = upto(20 * kMemoryRate);
  if (upto(1) > 0) cost.arithmetic_limit = 1 + upto(kArithmeticRate - 1);
  if (upto(1) > 0) cost.memory_limit = 1 + kMemoryRate / 64 + upto(kMemoryRate / 2);
  cost.warps = 1 + static_cast<int>(upto(limits.warps / 2));
  cost.registers = upto(limits.registers / 2);
  cost.shared_bytes = upto(1) > 0 ? upto(50'000) : 0;
  cost.sm_shared_bytes = 100'000;
  const auto most = [](std::int64_t has, std::int64_t wants) {
    return wants == 0 ? std::int64_t{64} : has / wants;
  };
  cost.per_sm = static_cast<int>(
      std::min({std::int64_t{limits.blocks}, most(limits.warps, cost.warps),
                most(limits.registers, cost.registers), most(100'000, cost.shared_bytes)}));
  return cost;
}

program::Operation kernel(std::int64_t blocks, int threads, int registers, double flops,
                          double bytes) {
  program::Operation operation;
  operation.kernel = "kernel";
  operation.blocks = blocks;
  operation.threads = threads;
  program::BlockWork work;
  work.registers = registers;
  work.flops = flops * threads;
  work.bytes = bytes * threads;
  work.ilp = 1;
  operation.block_work = work;
  return operation;
}

machine::Gpu a100() {
  return machine::load_machine("a100-sxm-1").gpu;
}

double ratio(Nanos a, Nanos b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

TEST_CASE("blocks that are advanced together end at the nanosecond of blocks advanced one by one") {
  std::mt19937 random(4);
  for (int i = 0; i < 4000; ++i) {
    const auto upto = [&](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
    const SmLimits limits{1 + upto(6), 4 + upto(12), 1 + upto(5), 1000};
    std::vector<Arrival> arrivals;
    Nanos time = upto(50);
    for (int k = 1 + upto(4); k > 0; --k) {
      arrivals.push_back({time, random_cost(random, limits), 1 + upto(80), -upto(1)});
      time += upto(2) == 0 ? 0 : upto(4000);
    }
    CAPTURE(i, limits.count, arrivals.size());
    const test::PlainResult plain = test::PlainSms(limits, arrivals).run();
    const Fast fast = run_fast(limits, arrivals);
    REQUIRE(fast.ends == plain.ends);
    REQUIRE(fast.use.busy == plain.use.busy);
    REQUIRE(fast.use.warps == plain.use.warps);
  }
}

// Rows of kernels that wait for one another's room: a kernel's first blocks begin beside the last
// of the one before it, and its waves never end at once.
TEST_CASE("long kernels one behind another end at the nanosecond of blocks advanced one by one") {
  std::mt19937 random(7);
  for (int i = 0; i < 600; ++i) {
    const auto upto = [&](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
    const SmLimits limits{1 + upto(6), 4 + upto(12), 1 + upto(5), 1000};
    const std::vector<BlockCost> kinds{random_cost(random, limits), random_cost(random, limits)};
    std::vector<Arrival> arrivals;
    Nanos time = upto(50);
    for (int k = 2 + upto(3); k > 0; --k) {
      arrivals.push_back({time, kinds[static_cast<std::size_t>(upto(1))], 1 + upto(700), -upto(1)});
      time += upto(3) > 0 ? upto(200) : upto(40'000);
    }
    CAPTURE(i, limits.count, arrivals.size());
    const test::PlainResult plain = test::PlainSms(limits, arrivals).run();
    const Fast fast = run_fast(limits, arrivals);
    REQUIRE(fast.ends == plain.ends);
    REQUIRE(fast.use.busy == plain.use.busy);
    REQUIRE(fast.use.warps == plain.use.warps);
  }
}

// Kernels, and SMs and memory that are taken from them now and then: kernels that have the SMs to
// themselves are looked up, and carried out again where something comes between.
TEST_CASE("a kernel that is looked up ends at the nanosecond of blocks advanced one by one") {
  std::mt19937 random(6);
  for (int i = 0; i < 4000; ++i) {
    const auto upto = [&](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
    const SmLimits limits{2 + upto(6), 4 + upto(12), 1 + upto(5), 1000};
    const std::vector<BlockCost> kinds{random_cost(random, limits), random_cost(random, limits)};
    std::vector<Arrival> arrivals;
    std::vector<test::Aside> asides;
    Nanos time = upto(50);
    for (int k = 1 + upto(7); k > 0; --k) {
      arrivals.push_back({time, kinds[static_cast<std::size_t>(upto(1))], 1 + upto(80), -upto(1)});
      time += upto(3) == 0 ? 0 : upto(20'000);
    }
    for (Nanos at = upto(5000); at < time; at += 1 + upto(20'000))
      asides.push_back({at, {upto(limits.count - 1), upto(2) * kMemoryRate / 4}});
    CAPTURE(i, limits.count, arrivals.size(), asides.size());
    const test::PlainResult plain = test::PlainSms(limits, arrivals, asides).run();
    const auto known = std::make_shared<LoneRuns>();
    for (int again = 0; again < 2; ++again) {
      const Fast fast = run_fast(limits, arrivals, asides, known);
      REQUIRE(fast.ends == plain.ends);
      REQUIRE(fast.use.busy == plain.use.busy);
      REQUIRE(fast.use.warps == plain.use.warps);
    }
  }
}

TEST_CASE("what an SM array holds of a kernel alone is told at each change of it") {
  const SmLimits limits{4, 8, 4, 1000};
  BlockCost cost;
  cost.arithmetic = 100 * kArithmeticRate;
  cost.warps = 8;
  SmArray array(limits, std::make_shared<LoneRuns>());
  array.admit(7, 1, cost, 9);
  CHECK(array.busy_sms() == 4);
  CHECK(array.resident_warps() == 32);
  CHECK(array.next_event() == 207);
  CHECK(array.finish(207).empty());
  CHECK(array.busy_sms() == 1);
  CHECK(array.resident_warps() == 8);
  CHECK(array.next_event() == 307);
  CHECK(array.finish(307) == std::vector<std::uint32_t>{1});
  CHECK(array.idle());
}

TEST_CASE("SMs that are set aside take no blocks, and memory that is set aside serves none") {
  const SmLimits limits{4, 8, 4, 1000};
  BlockCost cost;
  cost.arithmetic = 100 * kArithmeticRate;
  cost.warps = 8;
  CHECK(run_fast(limits, {{10, cost, 4, 0}}, {{0, {1, 0}}}).ends == std::vector<Nanos>{210});
  // Blocks that are there go on to their end.
  CHECK(run_fast(limits, {{10, cost, 4, 0}}, {{20, {3, 0}}}).ends == std::vector<Nanos>{110});
  cost.arithmetic = 0;
  cost.memory = 100 * kMemoryRate;
  CHECK(run_fast(limits, {{10, cost, 4, 0}}, {{0, {0, kMemoryRate / 2}}}).ends ==
        std::vector<Nanos>{810});
}

TEST_CASE("the waves and bars of a kernel that is alone are those of its blocks one by one") {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const auto upto = [&](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
    const SmLimits limits{1 + upto(6), 4 + upto(12), 1 + upto(5), 1000};
    const Arrival one{0, random_cost(random, limits), 1 + upto(150), 0};
    const test::PlainResult plain = test::PlainSms(limits, {one}).run();
    const SmRun run = run_alone(one.cost, one.blocks, limits);
    REQUIRE(run.duration == plain.ends[0]);
    REQUIRE(run.use.busy == plain.use.busy);
    REQUIRE(run.use.warps == plain.use.warps);
    const std::vector<BlockBar> bars = run.bars(0, run.blocks);
    REQUIRE(bars.size() == plain.bars.size());
    for (const test::PlainResult::Bar& bar : plain.bars) {
      const BlockBar& ours = bars[static_cast<std::size_t>(bar.block)];
      REQUIRE(std::tie(ours.sm, ours.start, ours.end) == std::tie(bar.sm, bar.start, bar.end));
      REQUIRE(ours.start >= run.wave(ours.wave).start);
      REQUIRE(ours.end <= run.wave(ours.wave).end);
    }
    REQUIRE(run.wave(run.waves - 1).end == run.duration);
  }
}

TEST_CASE("ten million equal blocks are simulated in less than a millisecond") {
  const machine::Gpu gpu = a100();
  const BlockCost cost = block_cost(kernel(1, 256, 32, 1000, 16), gpu);
  const Arrival many{0, cost, 10'000'000, 0};
  run_fast(sm_limits(gpu), {many});
  const auto begin = std::chrono::steady_clock::now();
  const Fast fast = run_fast(sm_limits(gpu), {many});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  CHECK(fast.ends[0] == run_alone(cost, many.blocks, sm_limits(gpu)).duration);
  CHECK(took.count() < 1.0);
}

TEST_CASE("a hundred long kernels that wait for one another take a few milliseconds") {
  const machine::Gpu gpu = a100();
  const BlockCost cost = block_cost(kernel(1, 256, 32, 1000, 16), gpu);
  const std::vector<Arrival> many(100, {0, cost, 1'000'000'001, 0});
  const auto begin = std::chrono::steady_clock::now();
  const Fast fast = run_fast(sm_limits(gpu), many);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  CHECK(took.count() < 500);
  // Nothing of the SMs is left idle from one to the next.
  const SmRun alone = run_alone(cost, 1'000'000'001, sm_limits(gpu));
  CHECK(ratio(fast.ends.back(), 100 * alone.duration) == Approx(1).epsilon(1e-4));
}

TEST_CASE("a kernel that comes into the midst of many waves waits for the last of their blocks") {
  const SmLimits limits{4, 8, 4, 1000};
  BlockCost cost;
  cost.arithmetic = 100 * kArithmeticRate;
  cost.warps = 8;
  const std::vector<Arrival> arrivals{{0, cost, 4 * 1000, 0}, {50'050, cost, 4, 0}};
  const Fast fast = run_fast(limits, arrivals);
  CHECK(fast.ends[0] == 100'000);
  CHECK(fast.ends[1] == 100'100);
}

TEST_CASE("a kernel begins when its first block is placed") {
  SmArray array({4, 8, 4, 1000});
  BlockCost cost;
  cost.arithmetic = 100 * kArithmeticRate;
  cost.warps = 8;
  using Ids = std::vector<std::uint32_t>;
  array.admit(0, 7, cost, 6);
  CHECK(array.begun() == Ids{7});
  array.admit(10, 8, cost, 3);
  CHECK(array.begun().empty());
  CHECK(array.next_event() == 100);
  CHECK(array.finish(100).empty());
  CHECK(array.begun() == Ids{8});  // two SMs are left for it
  CHECK(array.busy_sms() == 4);
  CHECK(array.finish(200) == Ids{7});
  CHECK(array.finish(300) == Ids{8});
  CHECK(array.idle());
}

TEST_CASE("109 blocks of one an SM take twice as long as 108 on 108 SMs") {
  const machine::Gpu gpu = a100();
  const SmRun one = run_alone(kernel(108, 1024, 64, 100'000, 0), gpu);
  const SmRun two = run_alone(kernel(109, 1024, 64, 100'000, 0), gpu);
  CHECK(one.waves == 1);
  CHECK(two.waves == 2);
  CHECK(two.duration == 2 * one.duration);
  CHECK(one.use.busy == one.duration * 108);
  CHECK(two.use.busy == one.duration * 109);
  CHECK(two.tail_idle == Approx(107.0 / 216));
  CHECK(two.wave(1).blocks == 1);
  CHECK(two.wave(1).sms == 1);
  CHECK(two.wave(1).start == one.duration);
}

TEST_CASE("arithmetic at full occupancy reaches the peak, however the blocks are cut") {
  const machine::Gpu gpu = a100();
  const double flops = 108.0 * 2048 * 100'000;
  const Nanos peak = static_cast<Nanos>(flops / gpu.fp32_flops_per_s * 1e9);
  for (const int threads : {128, 256, 512, 1024}) {
    const SmRun run = run_alone(kernel(108 * 2048 / threads, threads, 32, 100'000, 0), gpu);
    CHECK(run.waves == 1);
    CHECK(ratio(run.duration, peak) == Approx(1).margin(1e-3));
  }
}

TEST_CASE("enough warps hide the latency, fewer do not, and instructions in flight do as well") {
  const machine::Gpu gpu = a100();
  const auto time = [&](int threads, int ilp) {
    program::Operation one = kernel(108, threads, 32, 100'000, 0);
    one.block_work->ilp = ilp;
    one.block_work->flops = 1e8;  // the same work of an SM
    return run_alone(one, gpu).duration;
  };
  // 64 multiply-adds a cycle, 4 cycles each: 8 warps are enough, so 4 are half of it.
  CHECK(ratio(time(256, 1), time(1024, 1)) == Approx(1).margin(0.01));
  CHECK(ratio(time(128, 1), time(256, 1)) == Approx(2).margin(0.03));
  CHECK(ratio(time(128, 2), time(256, 1)) == Approx(1).margin(0.03));
}

TEST_CASE("33 registers instead of 32 slow a kernel that waits for memory: the occupancy cliff") {
  const machine::Gpu gpu = machine::load_machine("h200-1").gpu;
  const auto run = [&](int registers) {
    return run_alone(kernel(132 * 200, 1024, registers, 10, 400), gpu);
  };
  const SmRun full = run(32), half = run(33);
  CHECK(full.occupancy.theoretical == 1.0);
  CHECK(half.occupancy.theoretical == 0.5);
  CHECK(ratio(half.use.warps, half.use.busy * sm_limits(gpu).warps) == Approx(0.5));
  CHECK(ratio(half.duration, full.duration) > 1.2);
  CHECK(ratio(half.duration, full.duration) < 2.01);
}

TEST_CASE("memory traffic of many blocks takes its bytes over the bandwidth") {
  const machine::Gpu gpu = a100();
  const SmRun run = run_alone(kernel(108 * 8 * 50, 256, 32, 0, 400), gpu);
  const double bytes = 108.0 * 8 * 50 * 256 * 400;
  CHECK(static_cast<double>(run.duration) ==
        Approx(bytes / (gpu.memory_bytes_per_s * gpu.memory_efficiency) * 1e9).epsilon(0.001));
}

TEST_CASE("two kernels that fill half the SMs each run side by side") {
  const SmLimits limits{4, 8, 4, 1000};
  BlockCost cost;
  cost.arithmetic = 1000 * kArithmeticRate;
  cost.warps = 8;
  const Fast fast = run_fast(limits, {{0, cost, 2, 0}, {10, cost, 2, 0}});
  CHECK(fast.ends == std::vector<Nanos>{1000, 1010});
}

TEST_CASE("a block that would take hours, or that CUDA would not launch, is refused") {
  const machine::Gpu gpu = a100();
  CHECK_THROWS_WITH(block_cost(kernel(1, 1024, 32, 1e13, 0), gpu), Contains("would take"));
  CHECK_THROWS_WITH(block_cost(kernel(1, 1024, 128, 1, 0), gpu),
                    Contains("1024 threads with 128 registers"));
  CHECK_THROWS_WITH(block_cost(kernel(std::int64_t{1} << 31, 32, 32, 1, 0), gpu),
                    Contains("2147483648 blocks"));
}
