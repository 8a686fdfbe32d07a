// What layer norm, batch norm and fused kernels of them have in common: the sums of a block over a
// row or a channel, and the formulas value by value.
//
// `each` calls its argument for every value of the calling thread, in an order of its own, which is
// the order of summation.
#pragma once

#include "kernels/batch_norm.h"
#include "kernels/block.cuh"

namespace trainscope::kernels {

struct Moments {
  float mean;
  float squares;  // Σ (x - mean)²
  float rstd;
};

template <typename Each>
__device__ Moments block_moments(float count, float eps, const Each& each) {
  float own = 0;
  each([&](float x) { own += x; });
  const float mean = block_sum(own) / count;
  own = 0;
  each([&](float x) { own += (x - mean) * (x - mean); });
  const float squares = block_sum(own);
  return {mean, squares, 1 / sqrtf(squares / count + eps)};
}

// Calls body(i) for the calling thread's values of a channel, i being where the value stands.
template <typename Body>
__device__ void for_channel(const Image& shape, int channel, const Body& body) {
  const std::size_t pixels = static_cast<std::size_t>(shape.pixels());
  const std::size_t count = static_cast<std::size_t>(shape.batch) * pixels;
  for (std::size_t k = threadIdx.x; k < count; k += blockDim.x) {
    body(shape.at(static_cast<int>(k / pixels), channel, static_cast<int>(k % pixels)));
  }
}

// A block for each channel.
inline Shape shape_for_channels(const Image& shape) {
  constexpr unsigned kThreads = 256;
  return {{static_cast<unsigned>(shape.channels), 1, 1}, {kThreads, 1, 1}};
}

// By one thread of the channel's block.
inline __device__ void update_running(const RunningMoments& running, unsigned channel, float count,
                                      const Moments& batch) {
  const float keep = 1 - running.momentum;
  running.mean[channel] = keep * running.mean[channel] + running.momentum * batch.mean;
  running.variance[channel] =
      keep * running.variance[channel] + running.momentum * (batch.squares / (count - 1));
}

// Σ g and Σ g x̂.
struct GradientSums {
  float plain;
  float with_x;
};

template <typename Each>
__device__ GradientSums block_gradient_sums(float mean, float rstd, const Each& each) {
  float plain = 0;
  float with_x = 0;
  each([&](float x, float g) {
    plain += g;
    with_x += g * ((x - mean) * rstd);
  });
  const float sum = block_sum(plain);
  return {sum, block_sum(with_x)};
}

struct RowNorm {
  float mean;
  float rstd;
  __device__ float operator()(float x, float gamma, float beta) const {
    return (x - mean) * rstd * gamma + beta;
  }
};

struct RowNormGradient {
  float mean;
  float rstd;
  float mean_g;   // of γ dy
  float mean_gx;  // of γ dy x̂
  __device__ float operator()(float x, float dy, float gamma) const {
    return rstd * (dy * gamma - mean_g - (x - mean) * rstd * mean_gx);
  }
};

inline __device__ RowNormGradient row_norm_gradient(float mean, float rstd, float count,
                                                    const GradientSums& sums) {
  return {mean, rstd, sums.plain / count, sums.with_x / count};
}

struct ChannelNorm {
  float mean;
  float slope;
  float beta;
  __device__ float operator()(float x) const { return (x - mean) * slope + beta; }
};

struct ChannelNormGradient {
  float mean;
  float slope;
  float mean_dy;
  float factor;
  __device__ float operator()(float x, float dy) const {
    return (dy - mean_dy - (x - mean) * slope) * factor;
  }
};

inline __device__ ChannelNormGradient channel_norm_gradient(float mean, float rstd, float gamma,
                                                            float count, const GradientSums& sums) {
  return {mean, sums.with_x / count * rstd, sums.plain / count, gamma * rstd};
}

}  // namespace trainscope::kernels
