// Collectives: NCCL's closed form, and ranks that wait for one another.
#include "sim/collectives/collective_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/simulation.h"

using namespace trainscope;
using namespace trainscope::sim;
using Catch::Matchers::Contains;
using program::CollectiveKind;

namespace {

program::Communicator group_of(int ranks, std::string algorithm = "auto",
                               std::string protocol = "auto") {
  program::Communicator communicator;
  communicator.name = "group";
  communicator.ranks = communicator.simulated = ranks;
  communicator.algorithm = std::move(algorithm);
  communicator.protocol = std::move(protocol);
  return communicator;
}

double microseconds(const char* machine, const program::Communicator& communicator,
                    std::int64_t bytes, CollectiveKind kind = CollectiveKind::kAllReduce) {
  return static_cast<double>(
             plan_collective(machine::load_machine(machine), communicator, kind, bytes).duration) /
         1e3;
}

// Two ranks, a thread each; the second comes `late` nanoseconds after the first.
program::Program two_ranks(Nanos late, std::int64_t bytes = 1 << 20, int of_the_second = 1) {
  program::Program program;
  program.communicators.push_back(group_of(2));
  for (int rank = 0; rank < 2; ++rank) {
    program::Thread thread{
        "host rank " + std::to_string(rank), program::ThreadRole::kMain, rank, {}};
    thread.device = rank;
    program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank, rank});
    if (rank == 1) thread.commands.push_back({program::HostWork{late}, program::kNoIndex, 0, {}});
    program::Collective collective;
    collective.bytes = bytes;
    collective.stream = static_cast<program::Index>(rank);
    for (int i = 0; i < (rank == 0 ? 1 : of_the_second); ++i)
      thread.commands.push_back({collective, program::kNoIndex, 0, {}});
    program.threads.push_back(std::move(thread));
  }
  return program;
}

struct Finished {
  explicit Finished(const program::Program& program)
      : machine(machine::load_machine("l40s-2")), trace(trace::Origin{}) {
    Simulation(program, machine, "native", trace).finish();
  }
  std::vector<trace::Span> of(trace::Category category) const {
    std::vector<trace::Span> found;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i)
      if (trace.spans()[i].category == category) found.push_back(trace.spans()[i]);
    return found;
  }
  machine::Machine machine;
  trace::Trace trace;
};

}  // namespace

TEST_CASE("small messages take what NCCL's constants add up to") {
  // Ring, LL: base + 2 (n - 1) hops.
  CHECK(microseconds("l40s-2", group_of(2), 8) == Approx(6.6 + 2 * 1.0).epsilon(0.001));
  CHECK(microseconds("l40s-4", group_of(4), 8) == Approx(6.6 + 6 * 1.0).epsilon(0.001));
  CHECK(microseconds("h200-8", group_of(8, "ring"), 8) == Approx(6.6 + 14 * 0.6).epsilon(0.001));
  CHECK(microseconds("h200-8", group_of(8, "nvls"), 8) == Approx(25).epsilon(0.001));
  CHECK(microseconds("h200-8", group_of(8, "tree", "ll"), 8) ==
        Approx(6.8 + 2 * 7 * 0.6).epsilon(0.001));
}

TEST_CASE("a large message takes its bytes over the machine's rate") {
  const machine::Machine machine = machine::load_machine("h200-8");
  constexpr std::int64_t kBytes = std::int64_t{16} << 30;
  const auto bus = [&](const program::Communicator& communicator) {
    const auto plan = plan_collective(machine, communicator, CollectiveKind::kAllReduce, kBytes);
    return kBytes / static_cast<double>(plan.duration) *
           bus_factor(CollectiveKind::kAllReduce, communicator.ranks);  // GB/s
  };
  CHECK(bus(group_of(8, "ring")) == Approx(367).epsilon(0.002));
  CHECK(bus(group_of(4, "ring")) == Approx(367).epsilon(0.002));
  CHECK(bus(group_of(8)) == Approx(482).epsilon(0.002));
  CHECK(bus(group_of(5)) < bus(group_of(6)));
}

// nccl: src/enqueue.cc; 16 channels, 8 ranks, chunks of 16, 32, 64 and 128 KiB.
TEST_CASE("a switch sums a loop of chunks before any comes down, which the tuner leaves out") {
  const machine::Machine machine = machine::load_machine("h200-8");
  constexpr std::int64_t kMiB = 1 << 20;
  const auto loop_of = [&](CollectiveKind kind, std::int64_t bytes) {
    const auto plan = plan_collective(machine, group_of(8, "nvls"), kind, bytes);
    return std::lround(static_cast<double>(plan.duration - plan.predicted) * plan.bytes_per_s /
                       1e9 / kMiB);
  };
  for (const auto& [bytes, loop] : {std::pair{kMiB, 1},
                                    {4 * kMiB, 2},
                                    {8 * kMiB, 4},
                                    {63 * kMiB, 4},
                                    {64 * kMiB, 8},
                                    {1023 * kMiB, 8},
                                    {1024 * kMiB, 16}})
    CHECK(loop_of(CollectiveKind::kAllReduce, bytes) == loop);
  CHECK(loop_of(CollectiveKind::kAllGather, 64 * kMiB) == 0);
}

TEST_CASE(
    "a ring's hops are in the rate of large messages, and beside it below a loop of its steps") {
  const machine::Machine machine = machine::load_machine("l40s-4");
  const auto plan = [&](std::int64_t bytes) {
    return plan_collective(machine, group_of(4, "ring", "simple"), CollectiveKind::kAllReduce,
                           bytes);
  };
  constexpr std::int64_t kMiB = 1 << 20;
  CHECK(plan(8).latency_ns == Approx(8.4e3 + 6 * 5.7e3).epsilon(0.001));
  CHECK(plan(2 * kMiB).latency_ns == Approx(8.4e3 + 3 * 5.7e3).epsilon(0.001));
  CHECK(plan(4 * kMiB).latency_ns == Approx(8.4e3));
  CHECK(plan(512 * kMiB).latency_ns == Approx(8.4e3));
  for (std::int64_t bytes = 8; bytes < 16 * kMiB; bytes *= 2) {
    CHECK(plan(bytes).duration < plan(2 * bytes).duration);
    CHECK(plan(bytes).predicted >= plan(bytes).duration);
  }
}

TEST_CASE("the choice is the tuner's quickest, and goes from LL to NVLS as messages grow") {
  const machine::Machine machine = machine::load_machine("h200-8");
  for (std::int64_t bytes = 8; bytes < std::int64_t{1} << 34; bytes *= 2) {
    CAPTURE(bytes);
    const auto plans = collective_plans(machine, group_of(8), CollectiveKind::kAllReduce, bytes);
    for (std::size_t i = 1; i < plans.size(); ++i)
      CHECK(plans[i - 1].predicted <= plans[i].predicted);
  }
  const auto choice = [&](std::int64_t bytes) {
    const auto plan = plan_collective(machine, group_of(8), CollectiveKind::kAllReduce, bytes);
    return std::string(name_of(plan.algorithm)) + " " + std::string(name_of(plan.protocol));
  };
  CHECK(choice(1024) == "ring ll");
  CHECK(choice(1 << 30) == "nvls simple");
}

TEST_CASE("a kernel's name tells a tree, and no protocol, as NCCL's do") {
  const auto name = [](CollectiveKind kind, Algorithm algorithm, Protocol protocol) {
    CollectivePlan plan;
    plan.algorithm = algorithm;
    plan.protocol = protocol;
    return kernel_name(kind, program::ElementType::kFp32, plan);
  };
  for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kNvls}) {
      CHECK(name(CollectiveKind::kAllReduce, algorithm, protocol) ==
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
      CHECK(name(CollectiveKind::kAllGather, algorithm, protocol) ==
            "ncclDevKernel_AllGather_RING_LL");
    }
    CHECK(name(CollectiveKind::kAllReduce, Algorithm::kTree, protocol) ==
          "ncclDevKernel_AllReduce_Sum_f32_TREE_LL");
  }
}

TEST_CASE("reduce-scatter and all-gather are the two halves of an all-reduce") {
  const machine::Machine machine = machine::load_machine("l40s-4");
  constexpr std::int64_t kBytes = 1 << 28;
  const auto bytes_ns = [&](CollectiveKind kind) {
    const auto plan = plan_collective(machine, group_of(4, "ring", "simple"), kind, kBytes);
    return static_cast<double>(plan.duration) - plan.latency_ns;
  };
  const double all = bytes_ns(CollectiveKind::kAllReduce);
  CHECK(bytes_ns(CollectiveKind::kReduceScatter) == Approx(all / 2).epsilon(1e-6));
  CHECK(bytes_ns(CollectiveKind::kAllGather) == Approx(all / 2).epsilon(1e-6));
}

TEST_CASE("to send a message to all takes no longer than to sum it on all") {
  for (const char* machine : {"h100-sxm-8", "h200-8x2", "dgx1-v100-8x2"})
    for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 30; bytes *= 8) {
      CAPTURE(machine, bytes);
      const auto group = group_of(std::string(machine) == "h100-sxm-8" ? 8 : 16);
      CHECK(microseconds(machine, group, bytes, CollectiveKind::kBroadcast) <=
            microseconds(machine, group, bytes));
    }
}

TEST_CASE("a part of a DGX-1 has only the links that lead to its members") {
  // GPU 0 and 1 share one link of the six that GPU 0 has.
  constexpr std::int64_t kBytes = 1 << 28;
  const double two = microseconds("dgx1-v100-8", group_of(2, "ring", "simple"), kBytes);
  CHECK(kBytes / two / 1e3 == Approx(20).epsilon(0.01));
}

TEST_CASE("no way to carry out a collective sends more than a GPU's links carry") {
  for (const char* id : {"dgx1-v100-8", "a100-sxm-8", "h100-sxm-8", "h200-8", "b200-8", "l40s-4"}) {
    const machine::Machine machine = machine::load_machine(id);
    for (const auto kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                            CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast})
      for (const int ranks : {2, 4, machine.gpu_count})
        for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 36; bytes *= 4) {
          const auto plans = collective_plans(machine, group_of(ranks), kind, bytes);
          REQUIRE(!plans.empty());
          for (const CollectivePlan& plan : plans) {
            INFO(id << " " << program::name_of(kind) << " " << name_of(plan.algorithm) << " "
                    << ranks << " ranks, " << bytes);
            const auto nanos = static_cast<double>(plan.duration);
            CHECK(plan.wire_bytes / nanos * 1e9 <= machine.gpu_link.bytes_per_s);
          }
        }
  }
}

TEST_CASE("what cannot be carried out is refused with the reason") {
  CHECK_THROWS_WITH(microseconds("l40s-2", group_of(2, "nvls"), 8), Contains("write auto"));
  CHECK_THROWS_WITH(microseconds("l40s-2", group_of(2, "ring", "ll128"), 8),
                    Contains("ll128 needs NVLink"));
  CHECK_THROWS_WITH(microseconds("h200-8", group_of(8, "tree"), 8, CollectiveKind::kAllGather),
                    Contains("trees only all-reduce"));
  CHECK_THROWS_WITH(microseconds("l40s-2", group_of(4), 8), Contains("l40s-2 has 2 GPUs"));
}

TEST_CASE("a rank that comes first waits for the last, and both are done together") {
  const Finished run(two_ranks(100'000));
  const auto work = run.of(trace::Category::kCollective);
  const auto waits = run.of(trace::Category::kSync);
  REQUIRE(work.size() == 2);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].duration == 100'000);
  CHECK(waits[0].cause == trace::Cause::kPeer);
  const int last = 1 - run.trace.lanes()[waits[0].lane].rank;
  CHECK(run.trace.name(waits[0]) == "waits for rank " + std::to_string(last));
  CHECK(work[0].start == work[1].start);
  CHECK(work[0].end() == work[1].end());
  CHECK(waits[0].end() == work[0].start);
  const auto plan = plan_collective(run.machine, group_of(2), CollectiveKind::kAllReduce, 1 << 20);
  CHECK(work[0].duration == plan.duration);
  CHECK(run.trace.lanes()[work[0].lane].device != run.trace.lanes()[work[1].lane].device);
}

// Each rank has a kernel of so many blocks at work, each as large as an SM, when the collective
// comes.
program::Program behind_kernels(std::int64_t blocks) {
  program::Program program = two_ranks(0);
  program::Operation operation;
  operation.kernel = "kernel";
  operation.flops = 1e9 * static_cast<double>(blocks);
  operation.blocks = blocks;
  operation.threads = 1024;
  program.operations.push_back(operation);
  for (int rank = 0; rank < 2; ++rank) {
    const auto stream = static_cast<program::Index>(program.streams.size());
    program.streams.push_back({"stream 8", 8, program::StreamKind::kNonBlocking, 0, rank, rank});
    auto& commands = program.threads[static_cast<std::size_t>(rank)].commands;
    commands.insert(commands.begin(), {program::Launch{0, stream}, program::kNoIndex, 0, {}});
  }
  return program;
}

TEST_CASE("a collective begins when its channels have SMs, and its call cannot make it sooner") {
  const std::int64_t sms = machine::load_machine("l40s-2").gpu.sm_count;
  for (const std::int64_t blocks : {std::int64_t{10}, 4 * sms, 4 * sms + 10}) {
    INFO(blocks << " blocks");
    const Finished run(behind_kernels(blocks));
    const auto work = run.of(trace::Category::kCollective);
    const auto kernels = run.of(trace::Category::kKernel);
    REQUIRE(work.size() == 2);
    REQUIRE(kernels.size() == 2);
    CHECK((work[0].cause == trace::Cause::kRoom) == (blocks > sms));
    // Behind full waves; beside a few blocks, which may be the last wave.
    CHECK((work[0].start >= kernels[0].end()) == (blocks == 4 * sms));
    CHECK((work[0].start >= kernels[0].start + kernels[0].duration * 3 / 4) == (blocks > sms));
  }
}

TEST_CASE("a rank that waits for the others has its SMs all the while") {
  const auto kernel_time = [](Nanos late) {
    program::Program program = two_ranks(late);
    const program::Program with_kernel = behind_kernels(10'000);
    program.operations = with_kernel.operations;
    program.streams.push_back(with_kernel.streams[2]);
    program.threads[0].commands.push_back({program::Launch{0, 2}, program::kNoIndex, 0, {}});
    return Finished(program).of(trace::Category::kKernel).at(0).duration;
  };
  const Nanos alone = kernel_time(0), beside = kernel_time(1'000'000'000);
  const machine::Machine machine = machine::load_machine("l40s-2");
  const auto plan = plan_collective(machine, group_of(2), CollectiveKind::kAllReduce, 1 << 20);
  const double sms = machine.gpu.sm_count;
  CHECK(static_cast<double>(beside) ==
        Approx(static_cast<double>(alone) * sms / (sms - plan.channels)).epsilon(0.02));
}

TEST_CASE("a collective that a rank never joins is a standstill with names") {
  program::Program program = two_ranks(0, 8, 2);
  std::get<program::Collective>(program.threads[1].commands[2].action).sequence = 1;
  const machine::Machine machine = machine::load_machine("l40s-2");
  trace::Trace trace{trace::Origin{}};
  Simulation simulation(program, machine, "native", trace);
  simulation.finish();
  REQUIRE(simulation.ending());
  CHECK_THAT(
      sentence(*simulation.ending()),
      Contains("rank 1 waits in collective 1 (all_reduce) of the group for rank 0, which has "
               "come to the end of its program"));
}
