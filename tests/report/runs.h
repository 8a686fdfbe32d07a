// Runs made by hand, for the report's tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "program/config.h"

namespace trainscope::test {

inline std::shared_ptr<trace::Trace> empty_trace(
    trace::OriginKind kind = trace::OriginKind::kImported) {
  return std::make_shared<trace::Trace>(trace::Origin{kind, "trace.json", "schema 1", 0});
}

inline trace::LaneId add_stream(trace::Trace& trace, const std::string& name) {
  return trace.add_lane({name, trace::LaneKind::kStream, 0, 0, 1, 7, "GPU 0"});
}

inline trace::SpanId add_kernel(trace::Trace& trace, trace::LaneId lane, const std::string& name,
                                Nanos start, Nanos duration) {
  trace::Span span;
  span.start = start;
  span.duration = duration;
  span.name = trace.intern(name);
  span.lane = lane;
  span.category = trace::Category::kForward;
  return trace.add_span(span);
}

inline analysis::Run run_of(std::string label, std::shared_ptr<const trace::Trace> trace) {
  analysis::Run run;
  run.label = std::move(label);
  run.trace = std::move(trace);
  run.facts = analysis::gather_facts(*run.trace, nullptr, nullptr);
  run.metrics = analysis::compute_metrics(run.facts);
  run.gaps = analysis::idle_gaps(run.facts.measured);
  return run;
}

// A stream of `count` kernels of `length` with as long a pause after each.
inline std::shared_ptr<trace::Trace> kernels(int count, Nanos length = 100) {
  auto trace = empty_trace();
  const trace::LaneId lane = add_stream(*trace, "stream 7");
  for (int i = 0; i < count; ++i)
    add_kernel(*trace, lane, "kernel " + std::to_string(i % 10), 2 * length * i, length);
  return trace;
}

inline analysis::Run simulated(std::string label, const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  return analysis::run_config(std::move(label), config);
}

// Two ranks, of which rank 1 is slower.
inline analysis::Run straggling() {
  return simulated("A", {"workload=train", "model.name=mlp", "machine=h200-8", "steps=3",
                         "parallel.strategy=ddp", "parallel.world_size=2", "straggler.rank=1",
                         "straggler.factor=10"});
}

inline analysis::Run copies(std::string label, const std::string& memory) {
  return simulated(std::move(label), {"workload=copy", "copy.count=2", "copy.memory=" + memory,
                                      "transfer.non_blocking=true"});
}

}  // namespace trainscope::test
