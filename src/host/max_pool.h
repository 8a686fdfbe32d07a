// Max-pooling: torch.nn.functional.max_pool2d, ceil_mode = False. PyTorch's default stride is the
// size of the window.
//
// y[n, c, i, j] = the largest x in the window; `chosen` is the pixel that gave it, counted row by
// row in its plane (PyTorch's return_indices). Of equal ones the first; a NaN wins. dx gets each dy
// at the chosen pixel, summed where windows overlap. Error: forward is exact; backward has a
// rounding for each overlap.
#pragma once

#include <cstdint>
#include <span>

#include "host/image.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct MaxPool {
  ImageShape input;
  Window vertical;
  Window horizontal;

  ImageShape output() const;
};

// Throws InputError where the window does not fit or is padded by more than half its size.
void max_pool_forward(const MaxPool& pool, Values x, Results y, std::span<std::int32_t> chosen,
                      const Workers& workers = {});

// dx is written.
void max_pool_backward(const MaxPool& pool, Values dy, std::span<const std::int32_t> chosen,
                       Results dx, const Workers& workers = {});

}  // namespace trainscope::host
