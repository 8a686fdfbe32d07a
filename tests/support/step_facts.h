// Steps one by one, measured in the whole trace, and the facts of all of them at once.
#pragma once

#include <utility>
#include <vector>

#include "analysis/steps/step_facts.h"

namespace trainscope::test {

// analysis::measure of one step, of the rank's GPU that all are measured by.
inline analysis::Measured measure_step(const trace::Trace& trace, const program::Program* program,
                                       const machine::Machine* machine,
                                       const analysis::RankedStep& step) {
  const analysis::Measured all = analysis::measure(trace, program, machine);
  analysis::Measured measured;
  measured.trace = &trace;
  measured.program = program;
  measured.machine = machine;
  measured.whole = all.whole;
  measured.window = step.window;
  measured.marks = {step.mark};
  measured.marks_of_ranks = step.marks_of_ranks;
  measured.windows_of_ranks = step.windows_of_ranks;
  measured.steps = 1;
  return analysis::of_gpu(std::move(measured), all.rank, all.device);
}

// What analysis::for_each_step_facts visits.
inline std::vector<analysis::Facts> gather_step_facts(const trace::Trace& trace,
                                                      const program::Program* program,
                                                      const machine::Machine* machine) {
  std::vector<analysis::Facts> all;
  analysis::for_each_step_facts(trace, program, machine, [&](analysis::Facts&& facts) {
    facts.measured.trace = &trace;  // which outlives its part
    all.push_back(std::move(facts));
  });
  return all;
}

}  // namespace trainscope::test
