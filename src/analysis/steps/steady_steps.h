// From which step on a run is steady, so that it is measured.
#pragma once

#include <cstddef>

#include "analysis/steps/step_marks.h"
#include "program/program.h"

namespace trainscope::analysis {

// The first step after the warm-up in which the allocator has all that it needs: in those right
// after the warm-up cudaMalloc may still be called, as the second step has gradients and an
// optimizer's state that the first had not. Where all that are left call it, the first after the
// warm-up. Of a trace without a program, and of a replay, that has the steps that its trace has, as
// many are left out as the trace says; where it says none, and has three or more, the first, if the
// GPU began it with nothing to do and waited for its first work, while it begins most others still
// at work for the one before. `steps`: how many there are, at least one.
std::size_t first_measured_step(const trace::Trace& trace, const program::Program* program,
                                const RankMarks& ranks, std::size_t steps, int warmup);

}  // namespace trainscope::analysis
