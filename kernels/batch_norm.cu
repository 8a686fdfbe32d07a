#include "kernels/batch_norm.h"

#include "kernels/norms.cuh"

namespace trainscope::kernels {
namespace {

template <typename T>
__device__ void normalise(const Image& shape, int channel, const T* x, const ChannelNorm& norm,
                          T* y) {
  for_channel(shape, channel, [&](std::size_t i) { y[i] = narrow<T>(norm(widen(x[i]))); });
}

template <typename T>
__global__ void batch_norm_train_kernel(Image shape, const T* x, const float* gamma,
                                        const float* beta, float eps, T* y, BatchMoments moments,
                                        RunningMoments running) {
  const auto c = static_cast<int>(blockIdx.x);
  const float count = static_cast<float>(shape.batch) * static_cast<float>(shape.pixels());
  const auto each = [&](const auto& take) {
    for_channel(shape, c, [&](std::size_t i) { take(widen(x[i])); });
  };
  const Moments batch = block_moments(count, eps, each);
  if (threadIdx.x == 0) {
    moments.mean[c] = batch.mean;
    moments.rstd[c] = batch.rstd;
    update_running(running, c, count, batch);
  }
  normalise(shape, c, x, {batch.mean, batch.rstd * gamma[c], beta[c]}, y);
}

template <typename T>
__global__ void batch_norm_evaluate_kernel(Image shape, const T* x, const float* gamma,
                                           const float* beta, float eps, T* y, BatchMoments moments,
                                           RunningMoments running) {
  const auto c = static_cast<int>(blockIdx.x);
  const float mean = running.mean[c];
  const float rstd = 1 / sqrtf(running.variance[c] + eps);
  if (threadIdx.x == 0) {
    moments.mean[c] = mean;
    moments.rstd[c] = rstd;
  }
  normalise(shape, c, x, {mean, rstd * gamma[c], beta[c]}, y);
}

template <typename T>
__global__ void batch_norm_backward_kernel(Image shape, const T* x, const float* gamma, const T* dy,
                                           BatchMoments moments, T* dx, float* dgamma,
                                           float* dbeta) {
  const auto c = static_cast<int>(blockIdx.x);
  const float count = static_cast<float>(shape.batch) * static_cast<float>(shape.pixels());
  const float mean = moments.mean[c];
  const float rstd = moments.rstd[c];
  const auto each = [&](const auto& take) {
    for_channel(shape, c, [&](std::size_t i) { take(widen(x[i]), widen(dy[i])); });
  };
  const GradientSums sums = block_gradient_sums(mean, rstd, each);
  if (threadIdx.x == 0) {
    dgamma[c] = sums.with_x;
    dbeta[c] = sums.plain;
  }
  const ChannelNormGradient gradient = channel_norm_gradient(mean, rstd, gamma[c], count, sums);
  for_channel(shape, c,
              [&](std::size_t i) { dx[i] = narrow<T>(gradient(widen(x[i]), widen(dy[i]))); });
}

}  // namespace

template <typename T>
void batch_norm_train(Stream stream, const Image& shape, const T* x, const float* gamma,
                      const float* beta, float eps, T* y, const BatchMoments& moments,
                      const RunningMoments& running) {
  if (shape.size() == 0) return;
  launch("batch_norm_train", batch_norm_train_kernel<T>, stream, shape_for_channels(shape), shape,
         x, gamma, beta, eps, y, moments, running);
}

template <typename T>
void batch_norm_evaluate(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const float* beta, float eps, T* y, const BatchMoments& moments,
                         const RunningMoments& running) {
  if (shape.size() == 0) return;
  launch("batch_norm_evaluate", batch_norm_evaluate_kernel<T>, stream, shape_for_channels(shape),
         shape, x, gamma, beta, eps, y, moments, running);
}

template <typename T>
void batch_norm_backward(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const T* dy, const BatchMoments& moments, T* dx, float* dgamma,
                         float* dbeta) {
  if (shape.size() == 0) return;
  launch("batch_norm_backward", batch_norm_backward_kernel<T>, stream, shape_for_channels(shape),
         shape, x, gamma, dy, moments, dx, dgamma, dbeta);
}

template void batch_norm_train(Stream, const Image&, const float*, const float*, const float*,
                               float, float*, const BatchMoments&, const RunningMoments&);
template void batch_norm_train(Stream, const Image&, const Half*, const float*, const float*, float,
                               Half*, const BatchMoments&, const RunningMoments&);
template void batch_norm_train(Stream, const Image&, const Bfloat16*, const float*, const float*,
                               float, Bfloat16*, const BatchMoments&, const RunningMoments&);
template void batch_norm_evaluate(Stream, const Image&, const float*, const float*, const float*,
                                  float, float*, const BatchMoments&, const RunningMoments&);
template void batch_norm_evaluate(Stream, const Image&, const Half*, const float*, const float*,
                                  float, Half*, const BatchMoments&, const RunningMoments&);
template void batch_norm_evaluate(Stream, const Image&, const Bfloat16*, const float*, const float*,
                                  float, Bfloat16*, const BatchMoments&, const RunningMoments&);
template void batch_norm_backward(Stream, const Image&, const float*, const float*, const float*,
                                  const BatchMoments&, float*, float*, float*);
template void batch_norm_backward(Stream, const Image&, const Half*, const float*, const Half*,
                                  const BatchMoments&, Half*, float*, float*);
template void batch_norm_backward(Stream, const Image&, const Bfloat16*, const float*,
                                  const Bfloat16*, const BatchMoments&, Bfloat16*, float*, float*);

}  // namespace trainscope::kernels
