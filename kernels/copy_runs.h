// Runs of equal length, each copied as it is to another place: parts of sequences put together, and
// taken apart. CPU reference: CopyRuns of src/host/calculation.cpp.
//
// y [times, outer, inner, run]: its run (t, o, i) is that of x at first + t · outer · inner +
// o · outer_step + i · inner_step, counted in runs. The same bits. T: float, Half, Bfloat16. y and
// x do not overlap.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

struct Runs {
  std::size_t run = 1;
  std::size_t outer = 1, inner = 1;
  std::size_t outer_step = 1, inner_step = 1;
  std::size_t first = 0;
  std::size_t times = 1;

  __host__ __device__ std::size_t size() const { return times * outer * inner * run; }
};

template <typename T>
void copy_runs(Stream stream, const Runs& runs, const T* x, T* y);

}  // namespace trainscope::kernels
