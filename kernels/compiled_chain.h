// Kernels that were compiled for one chain's form (compiled_chain.cuh), as those who start them see
// them: which kernel, on how many threads, with what.
//
// A form is all of a chain but addresses, sizes, draws, the pool, and of norms the numbers beside
// them: chains of one form share a kernel. The bits are those of run_chain, run_norm_chain and
// run_column_chain.
#pragma once

#include <functional>

#include "kernels/column_chain.h"
#include "kernels/norm_chain.h"

namespace trainscope::kernels {

// Values that a thread carries at once: enough that it has 16 bytes and more under way.
int compiled_width(const Chain& chain);
int compiled_width(const NormChain& chain);

// Starts a kernel by its name, with the addresses of its arguments.
using StartKernel = std::function<void(const char* name, const Shape& shape, void** arguments)>;

void start_chain(const Chain& chain, const StartKernel& start);

// Whether each thread has one pack of a row at most, and so keeps it from one norm to the next.
bool is_at_once(const NormChain& chain);
// False: such a row is not aligned, and none of the chain's kernels is for it.
bool start_norm_chain(const NormChain& chain, const StartKernel& start);

// Whether the sums are whole after the first kernel.
bool is_one_part(const Matrix& shape);
void start_column_chain(const Matrix& shape, const ColumnChain& chain, float* workspace,
                        const StartKernel& start);

}  // namespace trainscope::kernels
