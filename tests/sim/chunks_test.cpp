// Collectives taken apart: every chunk on every link.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "machine/tree.h"
#include "sim/collectives/chunk_schedule.h"
#include "sim/collectives/chunk_traffic.h"
#include "sim/simulation.h"

using namespace trainscope;
using namespace trainscope::sim;
using Catch::Matchers::Contains;
using program::CollectiveKind;

namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce};
constexpr const char* kMachines[] = {"h200-8",      "a100-sxm-8", "b200-8",
                                     "l40s-2",      "l40s-4",     "titan-rtx-2",
                                     "dgx1-v100-8", "h200-8x2",   "dgx1-v100-8x2"};

// Whose contributions a rank's chunk is the sum of.
using Held = std::vector<std::vector<std::multiset<int>>>;

Held at_first(const ChunkSchedule& schedule) {
  Held held(static_cast<std::size_t>(schedule.ranks));
  for (int rank = 0; rank < schedule.ranks; ++rank)
    held[static_cast<std::size_t>(rank)].assign(static_cast<std::size_t>(schedule.chunks), {rank});
  return held;
}

// Sends of a step are all taken from what was there before it.
Held carried_out(const ChunkSchedule& schedule) {
  Held held = at_first(schedule), before = held;
  int step = 0;
  for (const ChunkSend& send : schedule.sends) {
    if (send.step != step) before = held;
    step = send.step;
    const auto chunk = static_cast<std::size_t>(send.chunk);
    const auto& what = before[static_cast<std::size_t>(send.from)][chunk];
    auto& there = held[static_cast<std::size_t>(send.to)][chunk];
    if (send.reduces)
      there.insert(what.begin(), what.end());
    else
      there = what;
  }
  return held;
}

// The chunks that a rank must hold in the end, and what of.
bool is_result(CollectiveKind kind, int rank, int chunk, const std::multiset<int>& held,
               int ranks) {
  std::multiset<int> all;
  for (int i = 0; i < ranks; ++i) all.insert(i);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return held == all;
    case CollectiveKind::kReduceScatter:
      return rank != chunk || held == all;
    case CollectiveKind::kAllGather:
      return held == std::multiset<int>{chunk};
    case CollectiveKind::kBroadcast:
      return held == std::multiset<int>{0};
    case CollectiveKind::kReduce:
      return rank != 0 || held == all;
    case CollectiveKind::kSendReceive:
      break;  // has no chunks
  }
  return false;
}

void check_result(const ChunkSchedule& schedule, CollectiveKind kind) {
  const Held held = carried_out(schedule);
  bool right = true;
  for (int rank = 0; rank < schedule.ranks; ++rank)
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
      right &= is_result(kind, rank, chunk,
                         held[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)],
                         schedule.ranks);
  CHECK(right);
}

program::Communicator group_of(int ranks, std::string algorithm = "auto",
                               std::string protocol = "auto") {
  program::Communicator communicator;
  communicator.name = "group";
  communicator.ranks = communicator.simulated = ranks;
  communicator.algorithm = std::move(algorithm);
  communicator.protocol = std::move(protocol);
  return communicator;
}

// Until nothing goes on any more: when each was done, and what was sent.
struct Outcome {
  std::map<std::pair<ChunkTraffic::Kind, std::uint32_t>, Nanos> done;
  std::vector<ChunkTraffic::Sent> sent;
  Nanos of(std::uint32_t collective) const {
    return done.at({ChunkTraffic::Kind::kCollective, collective});
  }
  Nanos of_copy(std::uint32_t copy) const { return done.at({ChunkTraffic::Kind::kCopy, copy}); }
};

Outcome all_of(ChunkTraffic& traffic) {
  Outcome outcome;
  while (!traffic.idle()) {
    const Nanos now = traffic.next_event();
    traffic.advance(now);
    for (const auto& one : traffic.done()) outcome.done[{one.kind, one.id}] = now;
    outcome.sent.insert(outcome.sent.end(), traffic.sent().begin(), traffic.sent().end());
  }
  return outcome;
}

// A process that drives `ranks` GPUs: an all-reduce, and copies to GPU 0 beside it.
program::Program all_reduce_beside(int copies, std::int64_t bytes) {
  program::Program program;
  program.communicators.push_back(group_of(4, "ring", "simple"));
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  auto& commands = program.threads.back().commands;
  for (int rank = 0; rank < 4; ++rank) {
    program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank, 0});
    program::Collective collective;
    collective.bytes = bytes;
    collective.stream = static_cast<program::Index>(rank);
    commands.push_back({collective, program::kNoIndex, 0, {}});
  }
  program.streams.push_back({"stream 8", 8, program::StreamKind::kNonBlocking, 0, 0, 0});
  program.buffers.push_back({"batch", bytes, program::MemoryKind::kPinned});
  program.buffers.push_back({"x", bytes, program::MemoryKind::kDevice});
  for (int i = 0; i < copies; ++i)
    commands.push_back({program::Copy{0, 1, bytes, 4}, program::kNoIndex, 0, {}});
  return program;
}

struct Finished {
  Finished(const program::Program& program, const char* id, bool expanded = true)
      : machine(machine::load_machine(id)), trace(trace::Origin{}) {
    Simulation(program, machine, "native", trace, nullptr, {expanded}).finish();
  }
  std::vector<trace::Span> on(trace::LaneKind kind) const {
    std::vector<trace::Span> found;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i)
      if (trace.lanes()[trace.spans()[i].lane].kind == kind) found.push_back(trace.spans()[i]);
    return found;
  }
  // The longest span of the category on a stream.
  Nanos longest(trace::Category category) const {
    Nanos longest = 0;
    for (const trace::Span& span : on(trace::LaneKind::kStream))
      if (span.category == category) longest = std::max(longest, span.duration);
    return longest;
  }
  machine::Machine machine;
  trace::Trace trace;
};

}  // namespace

TEST_CASE("every schedule leaves every rank with what the collective promises") {
  for (const char* id : {"h200-8", "dgx1-v100-8", "h200-8x2"}) {
    const machine::Topology topology = machine::topology_of(machine::load_machine(id));
    for (int ranks = 2; ranks <= topology.gpus; ++ranks) {
      CAPTURE(id, ranks);
      for (const CollectiveKind kind : kKinds)
        check_result(chunk_schedule(topology, Algorithm::kRing, kind, ranks, 5), kind);
      check_result(chunk_schedule(topology, Algorithm::kTree, CollectiveKind::kAllReduce, ranks, 6),
                   CollectiveKind::kAllReduce);
    }
  }
}

TEST_CASE("a ring's all-reduce sends 2 (n - 1) / n of the buffer over each link") {
  const machine::Topology topology = machine::topology_of(machine::load_machine("h200-8"));
  for (int ranks = 2; ranks <= 8; ++ranks) {
    const auto schedule =
        chunk_schedule(topology, Algorithm::kRing, CollectiveKind::kAllReduce, ranks, 1);
    CHECK(schedule.steps == 2 * (ranks - 1));
    std::map<std::pair<int, int>, int> sends;
    for (const ChunkSend& send : schedule.sends) ++sends[{send.from, send.to}];
    CHECK(sends.size() == static_cast<std::size_t>(ranks));
    for (const auto& [link, count] : sends) CHECK(count == 2 * (ranks - 1));
  }
}

TEST_CASE("between nodes each is inside one tree at most, and depth grows with the logarithm") {
  machine::Topology topology;
  topology.gpus_per_node = 1;
  for (const int nodes : {2, 3, 4, 7, 8, 13, 32}) {
    CAPTURE(nodes);
    topology.gpus = nodes;
    topology.places.resize(static_cast<std::size_t>(nodes));
    const auto trees = machine::trees_of(topology, nodes);
    REQUIRE(trees.size() == 2);
    std::vector<std::set<std::size_t>> inside(static_cast<std::size_t>(nodes));
    for (std::size_t which = 0; which < 2; ++which) {
      CHECK(std::count(trees[which].parent.begin(), trees[which].parent.end(), -1) == 1);
      CHECK(trees[which].depth <= std::ceil(std::log2(nodes)) + 1);
      for (int node = 0; node < nodes; ++node)
        if (const int parent = trees[which].parent[static_cast<std::size_t>(node)];
            parent >= 0 && trees[which].parent[static_cast<std::size_t>(parent)] >= 0)
          inside[static_cast<std::size_t>(parent)].insert(which);
    }
    for (const auto& trees_inside : inside) CHECK(trees_inside.size() <= 1);
  }
}

TEST_CASE("expanded and closed form agree within 2 % where nothing else uses the links") {
  std::mt19937 random(5);
  const auto upto = [&](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n + 1));
  };
  int tried = 0;
  for (int i = 0; i < 400; ++i) {
    const machine::Machine machine = machine::load_machine(kMachines[upto(8)]);
    const int gpus = static_cast<int>(machine::all_gpus(machine));
    int ranks = 2 + upto(gpus - 2);
    if (ranks > machine.gpu_count && ranks % 2 != 0) --ranks;
    const CollectiveKind kind = kKinds[upto(4)];
    program::Communicator group = group_of(ranks);
    group.peer_to_peer = upto(3) != 0;
    group.channels = upto(3) == 0 ? 1 + upto(5) : 0;
    const auto bytes = static_cast<std::int64_t>(std::exp2(3 + 27.0 * upto(1000) / 1000));
    const auto plans = collective_plans(machine, group, kind, bytes);
    const CollectivePlan& plan = plans[static_cast<std::size_t>(upto(99)) % plans.size()];
    if (!has_schedule(plan.algorithm)) continue;
    CAPTURE(machine.id, ranks, program::name_of(kind), bytes, name_of(plan.algorithm),
            name_of(plan.protocol), group.peer_to_peer, group.channels);
    ChunkTraffic traffic(machine);
    traffic.start(1000, 1, plan, kind, ranks, bytes);
    const auto took = static_cast<double>(all_of(traffic).of(1) - 1000);
    CHECK(took == Approx(static_cast<double>(plan.duration)).epsilon(0.02));
    ++tried;
  }
  CHECK(tried > 300);
}

TEST_CASE("no link carries more than its rate, whatever shares it") {
  std::mt19937 random(11);
  for (const char* id : {"h200-8", "l40s-4", "a100-sxm-8"}) {
    const machine::Machine machine = machine::load_machine(id);
    const int ranks = machine.gpu_count;
    for (int round = 0; round < 8; ++round) {
      ChunkTraffic traffic(machine);
      Links links(machine);
      std::vector<Way> ways;
      for (std::uint32_t i = 0; i < 3; ++i) {
        const auto bytes = static_cast<std::int64_t>(1 + random() % (1 << 24));
        const CollectivePlan plan = plan_collective(machine, group_of(ranks, "ring", "simple"),
                                                    CollectiveKind::kAllReduce, bytes);
        traffic.start(static_cast<Nanos>(random() % 20'000), i, plan, CollectiveKind::kAllReduce,
                      ranks, bytes);
        ways.push_back(plan.way);
      }
      std::map<LinkId, std::vector<ChunkTraffic::Sent>> on;
      for (const auto& sent : all_of(traffic).sent)
        for (const LinkId link : links.between(sent.send.from, sent.send.to, ways[sent.collective]))
          on[link].push_back(sent);
      CHECK(on.size() >= static_cast<std::size_t>(ranks));
      for (const auto& [link, all] : on) {
        const double rate = links.bytes_per_s()[link] * 1e-9;
        double worst = 0;  // bytes beyond what the link carries in a window, with a ns of rounding
        for (const auto& first : all)
          for (const auto& last : all) {
            double bytes = 0;
            for (const auto& one : all)
              if (one.start >= first.start && one.end <= last.end) bytes += one.bytes;
            const auto length = static_cast<double>(last.end - first.start + 1);
            if (last.end > first.start) worst = std::max(worst, bytes - rate * length);
          }
        CHECK(worst <= 1e-3);
      }
    }
  }
}

TEST_CASE("two all-reduces on the same links take longer than one, and no longer than in a row") {
  const machine::Machine machine = machine::load_machine("h200-8");
  constexpr std::int64_t kBytes = 64 << 20;
  const CollectivePlan plan =
      plan_collective(machine, group_of(8, "ring", "simple"), CollectiveKind::kAllReduce, kBytes);
  ChunkTraffic traffic(machine);
  for (std::uint32_t i = 0; i < 2; ++i)
    traffic.start(0, i, plan, CollectiveKind::kAllReduce, 8, kBytes);
  const Outcome both = all_of(traffic);
  // 450 GB/s for two that would have 367 each.
  CHECK(static_cast<double>(both.of(0)) > 1.5 * static_cast<double>(plan.duration));
  CHECK(static_cast<double>(both.of(1)) < 2.0 * static_cast<double>(plan.duration));
}

TEST_CASE("an all-reduce beside copies to a GPU of the same PCIe slows both") {
  constexpr std::int64_t kBytes = 200'000'000;
  const Finished alone(all_reduce_beside(0, kBytes), "l40s-4");
  const Finished copies(all_reduce_beside(1, kBytes), "l40s-4");
  const Finished closed(all_reduce_beside(0, kBytes), "l40s-4", false);
  const auto sum = [](const Finished& run) {
    return static_cast<double>(run.longest(trace::Category::kCollective));
  };
  const double copy = static_cast<double>(copies.longest(trace::Category::kCopyH2D));
  CHECK(sum(alone) == Approx(sum(closed)).epsilon(0.02));
  CHECK(sum(copies) > 1.02 * sum(alone));
  CHECK(copy > 1.2 * kBytes / alone.machine.pcie.h2d_bytes_per_s * 1e9);
}

TEST_CASE("chunks stand in the trace on a lane for each link, with what they are") {
  const Finished run(all_reduce_beside(0, 1'000'000), "l40s-4");
  const auto chunks = run.on(trace::LaneKind::kLink);
  REQUIRE(chunks.size() == 4 * 6);
  double bytes = 0;
  std::set<trace::LaneId> lanes;
  std::set<std::string> names;
  for (const trace::Span& span : chunks) {
    bytes += static_cast<double>(std::get<trace::CopyDetail>(*run.trace.detail(span)).bytes);
    names.insert(run.trace.lanes()[span.lane].name + ": " + run.trace.name(span));
    lanes.insert(span.lane);
  }
  CHECK(lanes.size() == 4);
  // Around the ring of GPUs 0 to 3: the first step, the last that adds, the last.
  CHECK(names.contains("link GPU 2 to GPU 3: add chunk 2, step 0"));
  CHECK(names.contains("link GPU 2 to GPU 3: add chunk 0, step 2"));
  CHECK(names.contains("link GPU 3 to GPU 0: copy chunk 2, step 5"));
  CHECK(bytes == Approx(4 * 1.5 * 1'000'000));
}

TEST_CASE("what would send too many chunks is refused with what to write instead") {
  machine::Machine machine = machine::load_machine("h200-8x2");
  machine.nodes = 128;
  ChunkTraffic traffic(machine);
  const auto group = group_of(1024, "ring", "simple");
  const CollectivePlan plan = plan_collective(machine, group, CollectiveKind::kAllReduce, 1 << 30);
  CHECK_THROWS_WITH(traffic.start(0, 0, plan, CollectiveKind::kAllReduce, 1024, 1 << 30),
                    Contains("write fewer ranks"));
}
