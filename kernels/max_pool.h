// Max-pooling: torch.nn.functional.max_pool2d, ceil_mode = False. CPU reference:
// src/host/max_pool.h.
//
// y[n, c, i, j] = the largest x in the window; `chosen` is the pixel that gave it, counted row by
// row in its plane. Of equal ones the first; a NaN wins. dx gets each dy at the chosen pixel, the
// overlapping windows' summed in their order: no atomics. The window must fit, padded by at most
// half its size. Forward is exact; backward sums in FP32. T: float, Half, Bfloat16.
#pragma once

#include "kernels/image.h"

namespace trainscope::kernels {

struct MaxPool {
  Image input;
  Window vertical;
  Window horizontal;

  __host__ __device__ Image output() const {
    return {input.batch, input.channels, vertical.places(input.height),
            horizontal.places(input.width), input.channels_last};
  }
};

template <typename T>
void max_pool_forward(Stream stream, const MaxPool& pool, const T* x, T* y, std::int32_t* chosen);

template <typename T>
void max_pool_backward(Stream stream, const MaxPool& pool, const T* dy, const std::int32_t* chosen,
                       T* dx);

}  // namespace trainscope::kernels
