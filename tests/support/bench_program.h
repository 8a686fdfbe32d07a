// A small program to try commands on: one thread, two streams, a buffer of each kind of memory, one
// kernel of a millisecond.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "sim/simulation.h"

namespace trainscope::test {

struct BenchProgram {
  static constexpr program::Index kDevice = 0, kPinned = 1, kPageable = 2;
  static constexpr std::int64_t kBig = 64 << 20;

  BenchProgram() {
    using namespace trainscope::program;
    machine.host.context_bytes = 0;  // all memory is the allocator's
    program.threads.push_back({"host main", ThreadRole::kMain, 0, {}});
    program.streams.push_back({"stream 7", 7, StreamKind::kLegacyDefault, 0, 0});
    program.streams.push_back({"stream 20", 20, StreamKind::kNonBlocking, 0, 0});
    program.buffers = {{"device", kBig, MemoryKind::kDevice, Role::kBatch},
                       {"pinned", kBig, MemoryKind::kPinned, Role::kBatch},
                       {"pageable", kBig, MemoryKind::kPageable, Role::kBatch}};
    Operation op;
    op.kernel = "kernel";
    op.framework = "aten::op";
    op.kind = OperationKind::kOpaque;
    op.opaque_duration = 1 * kMillisecond;
    program.operations.push_back(op);
    program.events = 2;
  }

  std::size_t add_thread(const std::string& name, program::ThreadRole role) {
    program.threads.push_back({name, role, 0, {}});
    return program.threads.size() - 1;
  }
  void add(program::Action action, std::size_t thread = 0, std::uint16_t line = 0) {
    program.threads[thread].commands.push_back(
        {action, program::kNoIndex, line, program::Phase::kNone});
  }
  void run(const std::string& profile = "native") {
    sim::Simulation simulation(program, machine, profile, trace);
    simulation.finish();
  }
  std::vector<trace::Span> all(const std::string& lane, const std::string& name = {}) const {
    std::vector<trace::Span> found;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
      const trace::Span& span = trace.spans()[i];
      if (trace.lanes()[span.lane].name == lane && trace.name(span).starts_with(name))
        found.push_back(span);
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.start < b.start; });
    return found;
  }
  // The nth span of a lane whose name begins so.
  trace::Span find(const std::string& lane, const std::string& name, int nth = 0) const {
    const std::vector<trace::Span> found = all(lane, name);
    INFO(lane << ": " << name << " " << nth);
    REQUIRE(static_cast<std::size_t>(nth) < found.size());
    return found[static_cast<std::size_t>(nth)];
  }

  machine::Machine machine = machine::load_machine("h200-1");
  program::Program program;
  trace::Trace trace{trace::Origin{}};
};

}  // namespace trainscope::test
