#include "kernels/batch_norm.h"

#include "kernels/block.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

// Calls body(i) for the calling thread's values of a channel, i being where the value stands.
template <typename Body>
__device__ void for_channel(const Image& shape, int channel, const Body& body) {
  const std::size_t pixels = static_cast<std::size_t>(shape.pixels());
  const std::size_t count = static_cast<std::size_t>(shape.batch) * pixels;
  for (std::size_t k = threadIdx.x; k < count; k += blockDim.x) {
    body(shape.at(static_cast<int>(k / pixels), channel, static_cast<int>(k % pixels)));
  }
}

template <typename T>
__device__ void normalise(const Image& shape, int channel, const T* x, float mean, float slope,
                          float beta, T* y) {
  for_channel(shape, channel,
              [&](std::size_t i) { y[i] = narrow<T>((widen(x[i]) - mean) * slope + beta); });
}

template <typename T>
__global__ void batch_norm_train_kernel(Image shape, const T* x, const float* gamma,
                                        const float* beta, float eps, T* y, BatchMoments moments,
                                        RunningMoments running) {
  const auto c = static_cast<int>(blockIdx.x);
  const float count = static_cast<float>(shape.batch) * static_cast<float>(shape.pixels());
  float own = 0;
  for_channel(shape, c, [&](std::size_t i) { own += widen(x[i]); });
  const float mean = block_sum(own) / count;
  own = 0;
  for_channel(shape, c, [&](std::size_t i) {
    const float away = widen(x[i]) - mean;
    own += away * away;
  });
  const float squares = block_sum(own);
  const float rstd = 1 / sqrtf(squares / count + eps);
  if (threadIdx.x == 0) {
    moments.mean[c] = mean;
    moments.rstd[c] = rstd;
    const float keep = 1 - running.momentum;
    running.mean[c] = keep * running.mean[c] + running.momentum * mean;
    running.variance[c] = keep * running.variance[c] + running.momentum * (squares / (count - 1));
  }
  normalise(shape, c, x, mean, rstd * gamma[c], beta[c], y);
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
  normalise(shape, c, x, mean, rstd * gamma[c], beta[c], y);
}

template <typename T>
__global__ void batch_norm_backward_kernel(Image shape, const T* x, const float* gamma, const T* dy,
                                           BatchMoments moments, T* dx, float* dgamma,
                                           float* dbeta) {
  const auto c = static_cast<int>(blockIdx.x);
  const float count = static_cast<float>(shape.batch) * static_cast<float>(shape.pixels());
  const float mean = moments.mean[c];
  const float rstd = moments.rstd[c];
  float plain = 0;
  float with_x = 0;
  for_channel(shape, c, [&](std::size_t i) {
    const float d = widen(dy[i]);
    plain += d;
    with_x += d * ((widen(x[i]) - mean) * rstd);
  });
  const float sum = block_sum(plain);
  const float sum_with_x = block_sum(with_x);
  if (threadIdx.x == 0) {
    dgamma[c] = sum_with_x;
    dbeta[c] = sum;
  }
  const float mean_dy = sum / count;
  const float slope = sum_with_x / count * rstd;
  const float factor = gamma[c] * rstd;
  for_channel(shape, c, [&](std::size_t i) {
    dx[i] = narrow<T>((widen(dy[i]) - mean_dy - (widen(x[i]) - mean) * slope) * factor);
  });
}

Shape a_block_a_channel(const Image& shape) {
  return {{static_cast<unsigned>(shape.channels), 1, 1}, {kThreads, 1, 1}};
}

}  // namespace

template <typename T>
void batch_norm_train(Stream stream, const Image& shape, const T* x, const float* gamma,
                      const float* beta, float eps, T* y, const BatchMoments& moments,
                      const RunningMoments& running) {
  if (shape.size() == 0) return;
  launch("batch_norm_train", batch_norm_train_kernel<T>, stream, a_block_a_channel(shape), shape, x,
         gamma, beta, eps, y, moments, running);
}

template <typename T>
void batch_norm_evaluate(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const float* beta, float eps, T* y, const BatchMoments& moments,
                         const RunningMoments& running) {
  if (shape.size() == 0) return;
  launch("batch_norm_evaluate", batch_norm_evaluate_kernel<T>, stream, a_block_a_channel(shape),
         shape, x, gamma, beta, eps, y, moments, running);
}

template <typename T>
void batch_norm_backward(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const T* dy, const BatchMoments& moments, T* dx, float* dgamma,
                         float* dbeta) {
  if (shape.size() == 0) return;
  launch("batch_norm_backward", batch_norm_backward_kernel<T>, stream, a_block_a_channel(shape),
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
