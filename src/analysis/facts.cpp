#include "analysis/facts.h"

#include <utility>

namespace trainscope::analysis {
namespace {

// Of the whole trace, whichever part of it is measured.
struct DeviceMemory {
  explicit DeviceMemory(const trace::Trace& trace) : peaks(memory_peaks(trace)) {
    if (peaks.allocated) roles = roles_at_peak(trace);
  }
  MemoryPeaks peaks;
  RoleBytes roles;
};

Facts facts_of(Measured measured, const Learning& learning, const DeviceMemory& memory) {
  Facts facts;
  facts.learning = learning;
  facts.peaks = memory.peaks;
  facts.roles = memory.roles;
  facts.measured = std::move(measured);
  facts.partition = partition(facts.measured);
  facts.h2d = copy_times(facts.measured, trace::Category::kCopyH2D);
  facts.d2h = copy_times(facts.measured, trace::Category::kCopyD2H);
  facts.host = host_times(facts.measured);
  facts.epoch = epoch_time(facts.measured);
  facts.sms = sm_facts(facts.measured);
  facts.roofline = roofline(facts.measured);
  facts.collectives = collective_times(facts.measured);
  return facts;
}

}  // namespace

Facts gather_facts(const trace::Trace& trace, const program::Program* program,
                   const machine::Machine* machine) {
  return facts_of(measure(trace, program, machine), learning(trace), DeviceMemory(trace));
}

Facts gather_whole_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine) {
  return facts_of(measure_whole(trace, program, machine), learning(trace), DeviceMemory(trace));
}

std::vector<Facts> gather_step_facts(const trace::Trace& trace, const program::Program* program,
                                     const machine::Machine* machine) {
  std::vector<Facts> steps;
  const DeviceMemory memory(trace);
  for (const StepWindow& step : step_windows(trace)) {
    const auto number = static_cast<std::int64_t>(steps.size());
    steps.push_back(facts_of(measure_step(trace, program, machine, step),
                             learning_of_step(trace, number), memory));
  }
  return steps;
}

}  // namespace trainscope::analysis
