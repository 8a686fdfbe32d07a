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

// *found_inf becomes 1 if a value is not finite, and is left as it is otherwise.
template <typename T>
void look_for_infinities(Stream stream, const T* values, std::size_t count, float* found_inf);

}  // namespace trainscope::kernels
