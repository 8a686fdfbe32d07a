// Batch normalisation of images, a channel at a time: torch.nn.functional.batch_norm, eps = 1e-5,
// momentum = 0.1. (A [rows, columns] matrix is `rows` images of one pixel: BatchNorm1d.)
//
// Ioffe and Szegedy, arXiv:1502.03167. With count = batch · pixels values in a channel:
//   training: mean and biased variance of the batch; evaluation: the running ones
//   x̂ = (x - mean) / √(variance + eps);  y = x̂ γ + β
//   running = (1 - momentum) running + momentum · (mean, variance · count / (count - 1))
//   training: dx = γ rstd (dy - mean(dy) - x̂ mean(dy x̂));  evaluation: dx = γ rstd dy
//   dγ = Σ dy x̂;  dβ = Σ dy
// Error: a few units in the last place of values of order 1; means and sums are taken in FP64.
#pragma once

#include "host/image.h"
#include "host/layer_norm.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

inline constexpr float kBatchNormEps = 1e-5F;
inline constexpr double kBatchNormMomentum = 0.1;

struct RunningMoments {
  Results mean;      // 0 at the start
  Results variance;  // 1 at the start
  double momentum = kBatchNormMomentum;
};

// `moments` keeps each channel's mean and 1/√(variance + eps) for backward. Throws InputError where
// a channel has a single value, whose variance says nothing.
void batch_norm_train(const ImageShape& shape, Values x, Values gamma, Values beta, Results y,
                      const RowMoments& moments, const RunningMoments& running,
                      float eps = kBatchNormEps, const Workers& workers = {});

// `moments` keeps the running mean and its 1/√(variance + eps) for backward.
void batch_norm_evaluate(const ImageShape& shape, Values x, Values gamma, Values beta,
                         Values running_mean, Values running_variance, Results y,
                         const RowMoments& moments, float eps = kBatchNormEps,
                         const Workers& workers = {});

enum class Mode { kTrain, kEvaluate };

void batch_norm_backward(Mode mode, const ImageShape& shape, Values x, Values gamma, Values dy,
                         Values mean, Values rstd, const NormGradients& gradients, Into into,
                         const Workers& workers = {});

}  // namespace trainscope::host
