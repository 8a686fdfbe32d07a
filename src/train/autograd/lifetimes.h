// When the memory of a plan's tensors is allocated and freed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/program.h"
#include "train/autograd/tape.h"

namespace trainscope::train {

// Fills `allocated` and `freed` of the launches of `lists`, one after the other, for the buffers
// `own`: a buffer is allocated by the launch that writes it and freed after the last that reads it
// before it is written again. Those of `kept` live until the last launch of all.
void plan_lifetimes(const program::Program& program, const std::vector<program::Index>& own,
                    const std::vector<program::Index>& kept,
                    const std::vector<std::vector<PlannedLaunch>*>& lists);

// Each of `missing` is allocated by the first launch that writes it.
void allocate_where_written(const program::Program& program, std::set<program::Index> missing,
                            std::vector<PlannedLaunch>& launches);

// A buffer for what a list keeps of `kept`: it has that one's block from now on, and never gives it
// back, while the loop writes to `kept` itself again.
program::Index add_kept(program::Program& program, program::Index kept, std::string name);

}  // namespace trainscope::train
