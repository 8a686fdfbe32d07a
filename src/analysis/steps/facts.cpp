#include "analysis/steps/facts.h"

#include <algorithm>
#include <utility>

#include "analysis/steps/epochs.h"
#include "analysis/steps/finished_steps.h"
#include "analysis/steps/step_facts.h"
#include "analysis/steps/step_parts.h"

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

// All that is looked at of a step.
Interval time_of(const RankedStep& step) {
  Interval time{std::min(step.window.start, step.mark.start),
                std::max(step.window.end, step.mark.end)};
  const auto take = [&time](const Interval& one) {
    time = {std::min(time.start, one.start), std::max(time.end, one.end)};
  };
  for (const auto& [rank, marks] : step.marks_of_ranks) std::ranges::for_each(marks, take);
  for (const auto& [rank, window] : step.windows_of_ranks) take(window);
  return time;
}

// A step alone, in its part of the trace that `whole` is a measure of.
Measured measured_in(const trace::Trace& part, const Measured& whole, const RankedStep& step) {
  Measured measured;
  measured.trace = &part;
  measured.program = whole.program;
  measured.machine = whole.machine;
  measured.whole = whole.whole;
  measured.on_gpu = whole.on_gpu;
  measured.takes_batches = whole.takes_batches;
  measured.window = step.window;
  measured.marks = {step.mark};
  measured.marks_of_ranks = step.marks_of_ranks;
  measured.windows_of_ranks = step.windows_of_ranks;
  measured.steps = 1;
  return of_gpu(std::move(measured), whole.rank, whole.device);
}

}  // namespace

Facts gather_facts(const trace::Trace& trace, const program::Program* program,
                   const machine::Machine* machine) {
  Facts facts = facts_of(measure(trace, program, machine), learning(trace), DeviceMemory(trace));
  facts.validating = validating(trace);
  return facts;
}

Facts gather_whole_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine) {
  return facts_of(measure_whole(trace, program, machine), learning(trace), DeviceMemory(trace));
}

void for_each_step_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine,
                         const std::function<void(Facts&& facts)>& visit) {
  std::vector<RankedStep> steps = ranked_steps(trace);
  steps.resize(std::min(steps.size(), finished_steps(trace, program)));
  const Measured whole = measure(trace, program, machine);
  const DeviceMemory memory(trace);
  std::vector<Interval> times;
  for (const RankedStep& step : steps) times.push_back(time_of(step));
  StepParts parts(trace, std::move(times));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto part = parts.next();
    visit(facts_of(measured_in(*part, whole, steps[step]),
                   learning_of_step(trace, static_cast<std::int64_t>(step)), memory));
  }
}

}  // namespace trainscope::analysis
