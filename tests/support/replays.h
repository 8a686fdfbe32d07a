// Runs that are carried out, written down and replayed, for tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/simulation.h"
#include "support/config.h"
#include "train/build.h"
#include "train/replay/replay_program.h"

namespace trainscope::test {

using TracePointer = std::shared_ptr<const trace::Trace>;

inline TracePointer carried_out(const program::Program& program, const machine::Machine& machine,
                                const std::string& profile = "pytorch-eager") {
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  sim::Simulation simulation(program, machine, profile, *trace);
  simulation.finish();
  return trace;
}

inline TracePointer simulated(const Settings& settings) {
  const program::Config config = config_of(settings);
  const machine::Machine machine = train::machine_of(config);
  return carried_out(train::build_program(config, machine), machine);
}

inline TracePointer replayed(const TracePointer& trace, const Settings& changes = {}) {
  program::Config config = config_of({"workload=replay"});
  for (const std::string& change : changes) config.set_text(change);
  return carried_out(train::replay_program(config, trace), train::machine_of(config));
}

struct Work {
  int rank = 0;
  std::string stream, name;
  Nanos start = 0, end = 0;
  bool operator==(const Work&) const = default;
};

// Of the streams, rank after rank and stream after stream.
inline std::vector<Work> work_of(const trace::Trace& trace) {
  std::vector<Work> works;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (trace::is_gpu_work(span.category) && lane.kind == trace::LaneKind::kStream)
      works.push_back({lane.rank, lane.name, trace.name(span), span.start, span.end()});
  });
  std::ranges::sort(works, {}, [](const Work& one) {
    return std::tuple(one.rank, one.stream, one.start, one.end, one.name);
  });
  return works;
}

// The most by which a beginning or an end of the work differs.
inline Nanos most_apart(const std::vector<Work>& a, const std::vector<Work>& b) {
  REQUIRE(a.size() == b.size());
  Nanos worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].name == b[i].name);
    worst = std::max({worst, std::abs(a[i].start - b[i].start), std::abs(a[i].end - b[i].end)});
  }
  return worst;
}

// From the first beginning of work on a GPU to the last end.
inline double time_of_work(const trace::Trace& trace) {
  const std::vector<Work> works = work_of(trace);
  REQUIRE(!works.empty());
  return static_cast<double>(std::ranges::max(works, {}, &Work::end).end -
                             std::ranges::min(works, {}, &Work::start).start);
}

inline const Settings kTraining{"workload=train", "steps=6", "loop.evaluate=false"};

inline Settings training(Settings more) {
  more.insert(more.begin(), kTraining.begin(), kTraining.end());
  return more;
}

inline machine::Machine machine_of(const Settings& settings) {
  return train::machine_of(config_of(settings));
}

inline machine::Machine with_faster_host(machine::Machine machine, int times) {
  machine::Host& host = machine.host;
  for (Nanos* cost :
       {&host.launch_call_ns, &host.copy_call_ns, &host.event_call_ns, &host.nccl_call_ns,
        &host.malloc_call_ns, &host.free_call_ns, &host.graph_launch_ns, &host.sync_call_ns,
        &host.eager_operator_ns, &host.interpreter_call_ns, &host.compiled_operator_ns})
    *cost /= times;
  return machine;
}

// The time that the replay of a run foretells, over the time that the changed run takes.
inline double foretold(const Settings& settings, const Settings& change,
                       const machine::Machine& changed, const Settings& turned = {}) {
  Settings other = settings;
  other.insert(other.end(), turned.begin(), turned.end());
  const program::Config config = config_of(other);
  const TracePointer truth = carried_out(train::build_program(config, changed), changed);
  return time_of_work(*replayed(simulated(settings), change)) / time_of_work(*truth);
}

}  // namespace trainscope::test
