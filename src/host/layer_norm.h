// Layer normalisation over the last dimension: torch.nn.functional.layer_norm, eps = 1e-5.
//
// Ba, Kiros, Hinton, arXiv:1607.06450. For each row of x [rows, columns], with the biased variance:
//   x̂ = (x - mean) · rstd, rstd = 1/√(variance + eps);  y = x̂ γ + β;
//   dx = rstd (g - mean(g) - x̂ mean(g x̂)), g = dy γ;  dγ = Σ_r dy x̂;  dβ = Σ_r dy.
// Error: a few units in the last place of values of order 1; means and sums are taken in FP64.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

inline constexpr float kLayerNormEps = 1e-5F;

struct RowMoments {
  Results mean;  // one a row, as PyTorch keeps them for backward
  Results rstd;
};

void layer_norm_forward(const MatrixShape& shape, Values x, Values gamma, Values beta, Results y,
                        const RowMoments& moments, float eps = kLayerNormEps,
                        const Workers& workers = {});

// What is empty is not computed.
struct NormGradients {
  Results dx;  // written, never added to
  Results dgamma;
  Results dbeta;
};

void layer_norm_backward(const MatrixShape& shape, Values x, Values gamma, Values dy, Values mean,
                         Values rstd, const NormGradients& gradients, Into into,
                         const Workers& workers = {});

}  // namespace trainscope::host
