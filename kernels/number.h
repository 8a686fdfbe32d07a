// Arithmetic with a number that lies in device memory, so that the host need not know it. CPU
// reference: src/host/elementwise.h, unscale.h.
//
// Computed in FP32 and rounded once, but for the inverse, which is taken in FP64 as GradScaler
// does. T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// y[i] = (factor · *number) · x[i]. y may be x.
template <typename T>
void scale_by(Stream stream, const T* x, float factor, const float* number, T* y,
              std::size_t count);

// *inverse = 1 / *number.
void invert(Stream stream, const float* number, float* inverse);

}  // namespace trainscope::kernels
