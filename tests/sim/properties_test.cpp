// What must hold of every simulated run, tested over random programs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "analysis/steps/intervals.h"
#include "machine/machine.h"
#include "sim/simulation.h"
#include "support/random_program.h"
#include "trace/cause_words.h"
#include "trace/trace.h"

using namespace trainscope;
using trace::Category;
using trace::LaneKind;
using trace::Span;

namespace {

constexpr int kPrograms = 10000;

struct Simulated {
  program::Program program;
  trace::Trace trace{trace::Origin{}};
};

const machine::Machine& machine_for(int seed) {
  static const std::vector<machine::Machine> machines = [] {
    std::vector<machine::Machine> all;
    for (const std::string& id : machine::machine_ids()) all.push_back(machine::load_machine(id));
    all.push_back(all.front());
    all.back().gpu.copy_engines = 1;
    for (const int cores : {1, 2}) {
      all.push_back(all.front());
      all.back().host.cores = cores;
      all.back().host.launch_queue = 3;
    }
    return all;
  }();
  return machines[static_cast<std::size_t>(seed) % machines.size()];
}

std::unique_ptr<Simulated> simulate(int seed) {
  auto run = std::make_unique<Simulated>();
  run->program = test::random_program(static_cast<std::uint32_t>(seed));
  sim::Simulation simulation(run->program, machine_for(seed), seed % 2 ? "pytorch-eager" : "native",
                             run->trace);
  simulation.finish();
  return run;
}

std::vector<Span> spans_of(const trace::Trace& trace, LaneKind kind) {
  std::vector<Span> spans;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i)
    if (trace.lanes()[trace.spans()[i].lane].kind == kind) spans.push_back(trace.spans()[i]);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.start < b.start;
  });
  return spans;
}

}  // namespace

TEST_CASE("no two operations of one stream, nor two transfers of one engine, overlap") {
  std::map<LaneKind, int> pairs;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    for (const LaneKind kind : {LaneKind::kStream, LaneKind::kCopyEngine}) {
      const auto spans = spans_of(run->trace, kind);
      for (std::size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].lane != spans[i - 1].lane) continue;
        ++pairs[kind];
        INFO("seed " << seed);
        REQUIRE(spans[i].start >= spans[i - 1].end());
      }
    }
  }
  CHECK(pairs[LaneKind::kStream] > kPrograms);
  CHECK(pairs[LaneKind::kCopyEngine] > kPrograms);
}

TEST_CASE("nothing begins before its cause, and device work not before its call") {
  int causes = 0, works = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    const auto& spans = run->trace.spans();
    std::map<std::uint32_t, Span> calls;
    for (std::uint32_t i = 0; i < spans.size(); ++i)
      if (spans[i].category == Category::kHostApi && spans[i].correlation)
        calls[spans[i].correlation] = spans[i];
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      INFO("seed " << seed << " span " << i);
      REQUIRE(spans[i].duration >= 0);
      REQUIRE(spans[i].start >= 0);
      const bool on_device = trace::is_gpu_work(spans[i].category);
      if (on_device && spans[i].cause_span != trace::kNone) {
        const Span& cause = spans[spans[i].cause_span];
        const bool by_call = spans[i].cause == trace::Cause::kLaunch;
        ++causes;
        // A pageable copy begins inside its call.
        REQUIRE(spans[i].start >= (by_call ? cause.start : cause.end()));
      }
      if (on_device) {
        ++works;
        REQUIRE(calls.count(spans[i].correlation) == 1);
        REQUIRE(spans[i].start >= calls[spans[i].correlation].start);
      }
    }
  }
  CHECK(causes > kPrograms);
  CHECK(works > kPrograms);
}

TEST_CASE("what a host thread's span began after is over by then, what it waited for by its end") {
  int waits = 0, others = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    const auto& spans = run->trace.spans();
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      if (trace::is_gpu_work(spans[i].category) || spans[i].cause_span == trace::kNone) continue;
      INFO("seed " << seed << " span " << i);
      const bool awaited = trace::is_awaited(run->trace, spans[i]);
      REQUIRE(spans[spans[i].cause_span].end() <= (awaited ? spans[i].end() : spans[i].start));
      ++(awaited ? waits : others);
    }
  }
  CHECK(waits > kPrograms / 10);
  CHECK(others > kPrograms / 10);
}

TEST_CASE("no link carries more bytes than it can, over any transfer") {
  int transfers = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    const machine::Machine& machine = machine_for(seed);
    for (const Span& span : spans_of(run->trace, LaneKind::kCopyEngine)) {
      const auto& copy = std::get<trace::CopyDetail>(*run->trace.detail(span));
      const double rate = span.category == Category::kCopyH2D ? machine.pcie.h2d_bytes_per_s
                                                              : machine.pcie.d2h_bytes_per_s;
      INFO("seed " << seed);
      ++transfers;
      REQUIRE(static_cast<double>(copy.bytes) <=
              rate * 1e-9 * static_cast<double>(span.duration) + 1e-6);
    }
  }
  CHECK(transfers > kPrograms);
}

TEST_CASE("both directions together carry no more bytes than the link can") {
  int meetings = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    // Over any two transfers that meet, from the begin of the first to the end of the last, the
    // link moves both and at least nothing else is needed to break the bound.
    const auto spans = spans_of(run->trace, LaneKind::kCopyEngine);
    const double rate = machine_for(seed).pcie.both_bytes_per_s * 1e-9;
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
      for (std::size_t j = i + 1; j < spans.size(); ++j) {
        const Span &a = spans[i], &b = spans[j];
        if (a.lane == b.lane || a.start >= b.end() || b.start >= a.end()) continue;
        double bytes = 0;
        for (const Span* span : {&a, &b})
          bytes +=
              static_cast<double>(std::get<trace::CopyDetail>(*run->trace.detail(*span)).bytes);
        const auto time = std::max(a.end(), b.end()) - std::min(a.start, b.start);
        ++meetings;
        INFO("seed " << seed);
        REQUIRE(bytes <= rate * static_cast<double>(time) + 1e-6);
      }
    }
  }
  CHECK(meetings > kPrograms / 10);
}

TEST_CASE("no task is lost: every launch and copy of the program is in the trace") {
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    std::size_t commands = 0;
    std::int64_t copied = 0, transferred = 0;
    const auto nodes = program::graph_nodes(run->program);
    for (const auto& thread : run->program.threads) {
      bool capturing = false;
      for (const auto& command : thread.commands) {
        capturing |= std::holds_alternative<program::BeginCapture>(command.action);
        if (std::holds_alternative<program::EndCapture>(command.action)) capturing = false;
        const auto* copy = program::copy_of(command.action);
        const auto* graph = std::get_if<program::GraphLaunch>(&command.action);
        const bool launch = std::holds_alternative<program::Launch>(command.action) && !capturing;
        commands += copy || launch ? 1 : 0;
        if (graph) commands += static_cast<std::size_t>(nodes[graph->graph]);
        const bool within =
            copy && run->program.buffers[copy->to].kind == run->program.buffers[copy->from].kind;
        if (copy && !within) copied += copy->bytes;
      }
    }
    const auto spans = spans_of(run->trace, LaneKind::kStream);
    INFO("seed " << seed);
    REQUIRE(spans.size() == commands);
    for (const Span& span : spans_of(run->trace, LaneKind::kCopyEngine))
      transferred += std::get<trace::CopyDetail>(*run->trace.detail(span)).bytes;
    REQUIRE(transferred == copied);
  }
}

TEST_CASE("a synchronisation ends after the work that it waits for") {
  int waits = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto run = simulate(seed);
    const auto& spans = run->trace.spans();
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      if (spans[i].category != Category::kHeld || spans[i].cause_span == trace::kNone) continue;
      ++waits;
      INFO("seed " << seed << " span " << i);
      REQUIRE(spans[i].end() >= spans[spans[i].cause_span].end());
    }
  }
  CHECK(waits > kPrograms);
}

TEST_CASE("the same program gives the same trace, whether it is run at once or in small pieces") {
  for (int seed = 0; seed < kPrograms; ++seed) {
    const auto whole = simulate(seed);
    const auto program = test::random_program(static_cast<std::uint32_t>(seed));
    trace::Trace pieces{trace::Origin{}};
    sim::Simulation simulation(program, machine_for(seed), seed % 2 ? "pytorch-eager" : "native",
                               pieces);
    while (!simulation.advance(simulation.now() + 5000, 3)) {
    }
    REQUIRE(pieces.spans().size() == whole->trace.spans().size());
    for (std::uint32_t i = 0; i < pieces.spans().size(); ++i) {
      const Span &a = pieces.spans()[i], &b = whole->trace.spans()[i];
      INFO("seed " << seed << " span " << i);
      REQUIRE(a.start == b.start);
      REQUIRE(a.duration == b.duration);
      REQUIRE(a.lane == b.lane);
      REQUIRE(a.cause_span == b.cause_span);
      REQUIRE(pieces.name(a) == whole->trace.name(b));
    }
  }
}
