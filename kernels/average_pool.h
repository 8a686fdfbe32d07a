// The mean of each channel of an image: torch.nn.functional.adaptive_avg_pool2d to 1x1. CPU
// reference: src/host/average_pool.h.
//
// y [batch, channels]: y[n, c] = Σ x[n, c, pixel] / pixels;  dx[n, c, pixel] = dy[n, c] / pixels.
// Sums in FP32, in a fixed order, and dy times 1 / pixels, rounded once to T: float, Half,
// Bfloat16. Error: a few units in the last place of the mean of |x|.
#pragma once

#include "kernels/image.h"

namespace trainscope::kernels {

template <typename T>
void average_pool_forward(Stream stream, const Image& shape, const T* x, T* y);

template <typename T>
void average_pool_backward(Stream stream, const Image& shape, const T* dy, T* dx);

}  // namespace trainscope::kernels
