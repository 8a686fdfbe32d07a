// What one rank sends to another: how long it takes, who waits for whom, and what is counted.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/error.h"
#include "sim/collectives/collective_model.h"
#include "sim/peer_link.h"
#include "sim/simulation.h"

using namespace trainscope;
using namespace trainscope::sim;
using program::CollectiveKind;

namespace {

program::Communicator pair_of(int from, int to) {
  program::Communicator pair;
  pair.name = "pair";
  pair.ranks = pair.simulated = 2;
  pair.gpus = {from, to};
  return pair;
}

double seconds(const char* machine, int from, int to, std::int64_t bytes) {
  const CollectivePlan plan = plan_collective(machine::load_machine(machine), pair_of(from, to),
                                              CollectiveKind::kSendReceive, bytes);
  return static_cast<double>(plan.duration) * 1e-9;
}

enum class Does : std::uint8_t { kSend, kReceive, kBoth };

// Of three ranks, 1 and 2 meet; the second comes late.
struct Meeting {
  Does first = Does::kSend;
  Does second = Does::kReceive;
  Nanos late = 0;
  std::int64_t bytes = 1 << 24;
};

program::Program program_of(const Meeting& meeting) {
  program::Program program;
  program.communicators.push_back(pair_of(1, 2));
  program.buffers.push_back({"sent", meeting.bytes});
  program.payloads = {{0}};
  for (int gpu = 0; gpu < 3; ++gpu) {
    program::Thread thread{"host rank " + std::to_string(gpu), program::ThreadRole::kMain, gpu, {}};
    thread.device = gpu;
    program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, gpu, gpu});
    if (gpu == 2) thread.commands.push_back({program::HostWork{meeting.late}});
    program::Collective one;
    one.kind = CollectiveKind::kSendReceive;
    one.bytes = meeting.bytes;
    one.stream = static_cast<program::Index>(gpu);
    const Does does = gpu == 1 ? meeting.first : meeting.second;
    if (does != Does::kReceive) one.send = 0;
    if (does != Does::kSend) one.receive = 0;
    if (gpu > 0) thread.commands.push_back({one});
    program.threads.push_back(std::move(thread));
  }
  return program;
}

struct Finished {
  explicit Finished(const program::Program& program, const char* name = "h200-8",
                    bool chunks = false)
      : machine(machine::load_machine(name)), trace(trace::Origin{}) {
    program::validate(program);
    Simulation(program, machine, "native", trace, nullptr, Detail{.chunks = chunks}).finish();
  }
  std::map<int, trace::Span> by_gpu(trace::Category category) const {
    std::map<int, trace::Span> found;
    trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
      const trace::Lane& lane = trace.lanes()[span.lane];
      if (span.category == category && lane.kind == trace::LaneKind::kStream)
        found[lane.device] = span;
    });
    return found;
  }
  machine::Machine machine;
  trace::Trace trace;
};

}  // namespace

TEST_CASE("a large send has the rate of a copy between the two GPUs, whichever they are") {
  for (const auto& [name, from, to] : {std::tuple{"h200-8", 0, 1},
                                       {"h200-8", 6, 2},
                                       {"a100-sxm-8", 7, 0},
                                       {"dgx1-v100-8", 0, 4},
                                       {"l40s-4", 1, 2}}) {
    INFO(name << " from " << from << " to " << to);
    const double rate = peer_rate(machine::load_machine(name), from, to);
    const double more = seconds(name, from, to, 3 << 28) - seconds(name, from, to, 1 << 28);
    CHECK(2.0 * (1 << 28) / more == Approx(rate).epsilon(1e-3));
  }
}

// NCCL's base time and a hop: 8.4 and 3.4 us of Simple over NVLink, 6.6 and 0.6 of LL.
TEST_CASE("a small send takes what NCCL's constants add up to") {
  CHECK(seconds("h200-8", 0, 1, 8) == Approx(7.2e-6).epsilon(1e-3));
  CHECK(seconds("h200-8", 0, 1, 16 * 1024 + 4) == Approx(11.8e-6).epsilon(0.01));
  CHECK(seconds("l40s-4", 0, 1, 8) == Approx(7.6e-6).epsilon(1e-3));
}

TEST_CASE("between two nodes a GPU has its own adapter, not all of the node's") {
  const machine::Machine machine = machine::load_machine("h200-8x2");
  const double more = seconds("h200-8x2", 7, 8, 3 << 28) - seconds("h200-8x2", 7, 8, 1 << 28);
  const double adapters = std::max(1, machine.network.adapters / machine.gpu_count);
  CHECK(2.0 * (1 << 28) / more ==
        Approx(0.96 * machine.network.bytes_per_s * adapters / machine.network.adapters)
            .epsilon(1e-3));
  CHECK(seconds("h200-8x2", 7, 8, 1 << 26) > 3 * seconds("h200-8x2", 6, 7, 1 << 26));
}

TEST_CASE("both ranks wait for the later one, and are done together") {
  for (const Does first : {Does::kSend, Does::kReceive, Does::kBoth}) {
    const Does second = first == Does::kSend      ? Does::kReceive
                        : first == Does::kReceive ? Does::kSend
                                                  : Does::kBoth;
    const Finished run(program_of({first, second, 5 * kMillisecond}));
    const auto work = run.by_gpu(trace::Category::kCollective);
    const auto waits = run.by_gpu(trace::Category::kSync);
    REQUIRE(work.size() == 2);
    REQUIRE(waits.size() == 1);
    CHECK(work.at(1).start == work.at(2).start);
    CHECK(work.at(1).end() == work.at(2).end());
    CHECK(static_cast<double>(waits.at(1).duration) > 4.9 * double{kMillisecond});
    CHECK(static_cast<double>(work.at(1).duration) * 1e-9 ==
          Approx(seconds("h200-8", 1, 2, 1 << 24)).epsilon(1e-6));
    CHECK(run.trace.name(work.at(1)) == "ncclDevKernel_SendRecv");
  }
}

TEST_CASE("a span tells which way numbers go, and only what comes in is counted on links") {
  const Finished run(program_of({}));
  const auto operation = [&](int gpu) {
    const trace::Span span = run.by_gpu(trace::Category::kCollective).at(gpu);
    return std::get<trace::CollectiveDetail>(*run.trace.detail(span)).operation;
  };
  CHECK(operation(1) == "send");
  CHECK(operation(2) == "recv");
  std::set<int> counted;
  for (std::uint32_t i = 0; i < run.trace.lanes().size(); ++i)
    if (run.trace.lanes()[i].name.find("NVLink in") != std::string::npos)
      counted.insert(run.trace.lanes()[i].device);
  CHECK(counted == std::set<int>{2});
  const Finished both(program_of({Does::kBoth, Does::kBoth}));
  const trace::Span span = both.by_gpu(trace::Category::kCollective).at(1);
  CHECK(std::get<trace::CollectiveDetail>(*both.trace.detail(span)).operation == "send_recv");
}

TEST_CASE("where collectives send chunks, a send is the same as without") {
  const Finished plain(program_of({})), chunks(program_of({}), "h200-8", true);
  CHECK(plain.by_gpu(trace::Category::kCollective).at(2).duration ==
        chunks.by_gpu(trace::Category::kCollective).at(2).duration);
}

TEST_CASE("a send that nobody receives is told, by the ranks it is between") {
  program::Program program = program_of({});
  program.threads[2].commands.pop_back();
  const machine::Machine machine = machine::load_machine("h200-8");
  trace::Trace trace{trace::Origin{}};
  Simulation simulation(program, machine, "native", trace);
  simulation.finish();
  REQUIRE(simulation.ending());
  const Ending ending = *simulation.ending();
  const auto* deadlock = std::get_if<Deadlock>(&ending);
  REQUIRE(deadlock);
  CHECK(deadlock->waiting == std::vector<int>{1});
  CHECK(deadlock->missing == std::vector<int>{2});
}

TEST_CASE("a send among three ranks, or of nothing, is no program") {
  program::Program program = program_of({});
  program.communicators[0].ranks = 3;
  CHECK_THROWS_AS(program::validate(program), InputError);
  program = program_of({});
  auto& one = std::get<program::Collective>(program.threads[1].commands[0].action);
  one.send = program::kNoIndex;
  CHECK_THROWS_AS(program::validate(program), InputError);
}
