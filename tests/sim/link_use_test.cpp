// The counters that say how much of its links a GPU uses.
#include "sim/link_use.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>

#include "sim/collectives/collective_model.h"
#include "sim/simulation.h"

using namespace trainscope;
using namespace trainscope::sim;
using program::CollectiveKind;

namespace {

struct Job {
  std::string machine;
  int ranks = 2;
  std::vector<std::int64_t> bytes;  // of one all-reduce after the other
};

// Every rank has a stream and a thread of its own; some come late.
program::Program program_of(const Job& job, std::mt19937_64& random) {
  program::Program program;
  program::Communicator group;
  group.name = "group";
  group.ranks = group.simulated = job.ranks;
  program.communicators.push_back(group);
  for (int rank = 0; rank < job.ranks; ++rank) {
    program::Thread thread{
        "host rank " + std::to_string(rank), program::ThreadRole::kMain, rank, {}};
    thread.device = rank;
    program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank, rank});
    std::int64_t sequence = 0;
    for (const std::int64_t bytes : job.bytes) {
      thread.commands.push_back(
          {program::HostWork{static_cast<Nanos>(random() % 300'000)}, program::kNoIndex, 0, {}});
      program::Collective collective;
      collective.bytes = bytes;
      collective.sequence = sequence++;
      collective.stream = static_cast<program::Index>(rank);
      thread.commands.push_back({collective, program::kNoIndex, 0, {}});
    }
    program.threads.push_back(std::move(thread));
  }
  return program;
}

// By lane: percent times nanoseconds, and how long anything was sent.
struct Use {
  double area = 0;
  double time = 0;
  double most = 0;
  double last = 0;
};
std::map<std::string, Use> uses_of(const trace::Trace& trace) {
  std::map<std::string, Use> uses;
  std::map<std::string, Nanos> since;
  for (std::uint32_t i = 0; i < trace.samples().size(); ++i) {
    const trace::Sample& sample = trace.samples()[i];
    const trace::Lane& lane = trace.lanes()[sample.lane];
    if (lane.name.find('%') == std::string::npos) continue;
    const std::string name = lane.group + " " + lane.name;
    Use& use = uses[name];
    const auto passed = static_cast<double>(sample.time - since[name]);
    use.area += use.last * passed;
    if (use.last > 0) use.time += passed;
    use.last = sample.value;
    use.most = std::max(use.most, sample.value);
    since[name] = sample.time;
  }
  return uses;
}

std::unique_ptr<trace::Trace> traced(const program::Program& program,
                                     const machine::Machine& machine, bool chunks = false) {
  auto trace = std::make_unique<trace::Trace>(trace::Origin{});
  Simulation(program, machine, "native", *trace, nullptr, {.chunks = chunks}).finish();
  return trace;
}

}  // namespace

TEST_CASE("the area below a link's counter is what was sent over it") {
  std::mt19937_64 random(7);
  for (const auto& [name, ranks, carries] :
       {std::tuple{"l40s-2", 2, 0.0}, std::tuple{"h200-8", 8, 450e9},
        std::tuple{"h200-8", 4, 450e9}, std::tuple{"dgx1-v100-8", 8, 150e9},
        std::tuple{"h200-8x2", 16, 450e9}})
    for (int round = 0; round < 8; ++round) {
      const machine::Machine machine = machine::load_machine(name);
      Job job{name, ranks, {}};
      for (int i = 0; i < 4; ++i) job.bytes.push_back(std::int64_t{1} << (10 + random() % 18));
      const program::Program program = program_of(job, random);
      const auto uses = uses_of(*traced(program, machine));
      double sent = 0;
      for (const std::int64_t bytes : job.bytes)
        sent +=
            plan_collective(machine, program.communicators[0], CollectiveKind::kAllReduce, bytes)
                .wire_bytes;
      const double rate =
          carries > 0 ? carries
                      : std::max(machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s);
      REQUIRE(uses.size() == static_cast<std::size_t>(ranks + (machine.nodes > 1 ? 2 : 0)));
      for (const auto& [lane, use] : uses) {
        CAPTURE(name, lane, round);
        CHECK(use.most <= 100);
        CHECK(use.last == 0);
        // A sample is a tenth of a percent, rounded.
        const double of = lane.starts_with("node") ? machine.network.bytes_per_s : rate;
        CHECK(use.area / 100 * of * 1e-9 == Approx(sent).margin(0.0005 * use.time * of * 1e-9 + 1));
      }
    }
}

TEST_CASE("a run that uses no link between GPUs has no counter of them") {
  std::mt19937_64 random(7);
  const program::Program alone = program_of({"h200-8", 1, {1 << 20}}, random);
  CHECK(uses_of(*traced(alone, machine::load_machine("h200-8"))).empty());
}

TEST_CASE("collectives that are taken apart have lanes of links, and no counters") {
  std::mt19937_64 random(7);
  const program::Program program = program_of({"dgx1-v100-8", 4, {1 << 22}}, random);
  const auto trace = traced(program, machine::load_machine("dgx1-v100-8"), true);
  CHECK(uses_of(*trace).empty());
  bool links = false;
  for (std::uint32_t i = 0; i < trace->lanes().size(); ++i)
    links |= trace->lanes()[i].kind == trace::LaneKind::kLink;
  CHECK(links);
}
