// Batch normalisation of images, a channel at a time: torch.nn.functional.batch_norm. CPU
// reference: src/host/batch_norm.h, whose formulas these are.
//
// γ, β, their gradients, the moments and the running moments are FP32, and all is computed in FP32.
// A channel is summed in parts by many blocks, and the parts in a fixed order. The variance is from
// distances to means: of each part to its own mean, then the parts' by Σ squares + count (mean -
// batch's mean)², the pairwise formula of Chan, Golub and LeVeque, "Algorithms for Computing the
// Sample Variance: Analysis and Recommendations", The American Statistician 37 (1983). So nothing
// cancels, however far from 0 the mean is, and a batch is read from memory once for it.
// Error: a few units in the last place of values of order 1; the gradients of γ and β of Σ |dy x̂|
// and Σ |dy|. T: float, Half, Bfloat16. y may be x where no backward follows; dx may be dy.
#pragma once

#include "kernels/image.h"

namespace trainscope::kernels {

struct BatchMoments {  // of each channel
  float* mean = nullptr;
  float* rstd = nullptr;  // 1 / √(variance + eps)
};

struct RunningMoments {
  float* mean = nullptr;
  float* variance = nullptr;
  float momentum = 0.1F;
};

// Floats of room for training and backward.
std::size_t batch_norm_workspace(const Image& shape);

// `moments` is kept for backward. An image has more than one value a channel.
template <typename T>
void batch_norm_train(Stream stream, const Image& shape, const T* x, const float* gamma,
                      const float* beta, float eps, float* workspace, T* y,
                      const BatchMoments& moments, const RunningMoments& running);

// `moments` gets the running mean and its rstd.
template <typename T>
void batch_norm_evaluate(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const float* beta, float eps, T* y, const BatchMoments& moments,
                         const RunningMoments& running);

// Of a batch in training. dgamma and dbeta are written.
template <typename T>
void batch_norm_backward(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const T* dy, const BatchMoments& moments, float* workspace, T* dx,
                         float* dgamma, float* dbeta);

}  // namespace trainscope::kernels
