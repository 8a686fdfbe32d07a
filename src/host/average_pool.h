// The mean of each channel of an image: torch.nn.functional.adaptive_avg_pool2d to 1x1, which ends
// the residual networks.
//
// x [batch, channels, height, width] in either layout, y [batch, channels]:
//   y[n, c] = Σ x[n, c, i, j] / (height · width);  dx[n, c, i, j] = dy[n, c] / (height · width).
// Error: forward sums in FP64 and rounds once; backward has one rounding.
#pragma once

#include "host/image.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void average_pool_forward(const ImageShape& shape, Values x, Results y,
                          const Workers& workers = {});

// dx is written.
void average_pool_backward(const ImageShape& shape, Values dy, Results dx,
                           const Workers& workers = {});

}  // namespace trainscope::host
