// What layer norm and fused kernels of it have in common: the sums of a block over a row, and the
// formulas value by value.
//
// `each` calls its argument for every value of the calling thread, in an order of its own, which is
// the order of summation.
#pragma once

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
    return __fmul_rn(rstd, dy * gamma - mean_g - (x - mean) * rstd * mean_gx);
  }
};

inline __device__ RowNormGradient row_norm_gradient(float mean, float rstd, float count,
                                                    const GradientSums& sums) {
  return {mean, rstd, sums.plain / count, sums.with_x / count};
}

}  // namespace trainscope::kernels
