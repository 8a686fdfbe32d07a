// Sums of all values and of columns: torch.sum. CPU reference: src/host/sums.h, column_sums.h.
//
// Each thread sums in FP32, then warps, blocks and the grid do, always in the same order: no
// atomics, so a run repeats to the bit. Error: n · 2^-24 / (threads that share the sum) of Σ|x| at
// most; in practice a few units in the last place of Σ|x|. T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// Floats that `sum` needs to work in.
std::size_t sum_workspace(std::size_t count);
template <typename T>
void sum(Stream stream, const T* x, std::size_t count, float* workspace, float* total);

// sums[c] = Σ_r x[r, c], or added to it, rounded to Out once: the gradient of a bias. Where there
// are few rows it is one kernel and needs no room, else two. Out: float, Half, Bfloat16.
std::size_t column_sums_workspace(const Matrix& shape);
template <typename T, typename Out>
void column_sums(Stream stream, const Matrix& shape, const T* x, float* workspace, Out* sums,
                 Into into);

}  // namespace trainscope::kernels
