// Negative log-likelihood, mean over rows: torch.nn.functional.nll_loss. CPU reference:
// src/host/nll_loss.h.
//
// log_p [rows, classes], targets [rows]:
//   loss = -mean over rows of log_p[r, target];  dlog_p[r, c] = -[c = target] · dloss / rows.
// A row whose target is kIgnoredTarget (cross_entropy.h) counts nowhere and its gradient is 0; if
// all are such, the loss is NaN. A target that is no class stops the device (__trap). All FP32.
// Error: a few units in the last place of the mean of |log_p|.
#pragma once

#include "kernels/cross_entropy.h"

namespace trainscope::kernels {

// Floats to work in, for either.
std::size_t nll_loss_workspace(std::size_t rows);

// `loss` is one number.
void nll_loss_forward(Stream stream, const Matrix& shape, const float* log_p,
                      const std::int64_t* targets, float* workspace, float* loss);

// `dloss`, one number, is the gradient of the loss.
void nll_loss_backward(Stream stream, const Matrix& shape, const std::int64_t* targets,
                       const float* dloss, float* workspace, float* dlog_p);

}  // namespace trainscope::kernels
