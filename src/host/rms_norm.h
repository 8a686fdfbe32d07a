// Division by the root of the mean square of each row: torch.nn.functional.rms_norm.
//
// Zhang and Sennrich, arXiv:1910.07467. For each row of x [rows, columns]:
//   x̂ = x · rstd, rstd = 1/√(mean(x²) + eps);  y = x̂ γ;
//   dx = rstd (g - x̂ mean(g x̂)), g = dy γ;  dγ = Σ_r dy x̂.
// Error: a few units in the last place of values of order 1; sums are taken in FP64.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

inline constexpr float kRmsNormEps = 1e-5F;  // of Llama's published configurations, rms_norm_eps

// `rstd`, one a row, is kept for backward.
void rms_norm_forward(const MatrixShape& shape, Values x, Values gamma, Results y, Results rstd,
                      float eps = kRmsNormEps, const Workers& workers = {});

void rms_norm_backward_input(const MatrixShape& shape, Values x, Values gamma, Values dy,
                             Values rstd, Results dx, const Workers& workers = {});

void rms_norm_backward_weight(const MatrixShape& shape, Values x, Values dy, Values rstd,
                              Results dgamma, Into into, const Workers& workers = {});

}  // namespace trainscope::host
