// What Inductor, the code generator of torch.compile, makes of a plan: kernels that each do several
// operations, between the matrix products, convolutions and attention that stay as they are.
//
// As Inductor's scheduler (torch/_inductor/scheduler.py, codegen/simd.py): operations that loop
// over the same elements and share a tensor become one kernel, a reduction with what is done to
// each element before and after it included; two reductions only where they sum over the same. What
// no other kernel reads has no memory: its buffers only hold numbers. An operation may move up to a
// kernel that already has all it reads.
//
// A kernel reads and writes each operand once, as everywhere here. A batch norm stays one kernel,
// of which Inductor may make two or three. Of what Inductor computes again in backward only a
// SiLU is: the rest keeps as many bytes for it (README.md).
#pragma once

#include <set>
#include <vector>

#include "train/autograd/tape.h"

namespace trainscope::train {

// Fuses within each compiled piece of a plan, before its lifetimes are planned. `own`: buffers that
// the plan made; all others are read by somebody, as are `kept`. Operations from `first` on are
// this plan's alone, and are numbered anew.
void fuse(program::Program& program, Plan& plan, const std::set<program::Index>& own,
          const std::vector<program::Index>& kept, program::Index first);

}  // namespace trainscope::train
