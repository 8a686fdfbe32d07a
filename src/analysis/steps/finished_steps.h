// Which steps are over, of a simulated run that may have ended early: out of memory, or in a
// deadlock.
#pragma once

#include <cstddef>

#include "analysis/steps/step_marks.h"
#include "program/program.h"

namespace trainscope::analysis {

// Drops the marks of steps that the host was through with and a GPU never was: from the first call
// on whose work never ran. Where a rank has not finished one step, none is left. Marks of what is
// not simulated, or replayed, stay. `program` may be null.
void drop_unfinished(RankMarks& ranks, const trace::Trace& trace, const program::Program* program);

// How many of the first rank's steps that leaves; they are the first ones.
std::size_t finished_steps(const trace::Trace& trace, const program::Program* program);

}  // namespace trainscope::analysis
