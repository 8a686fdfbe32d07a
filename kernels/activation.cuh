// Activations value by value, forward and backward; formulas of activation.h.
//
// __expf's error grows with its argument's size, in units of a result that vanishes as fast: of the
// values here it is less than a unit in the last place of 1. A result that is a product is none
// that a device fuses with what it is added to: whoever has the formula gets the same bits.
#pragma once

#include <cmath>

#include "kernels/device.h"

namespace trainscope::kernels {

inline constexpr float kSqrtHalf = 0.70710678118654752F;
inline constexpr float kSlope = 0.79788456080286536F;    // √(2/π)
inline constexpr float kDensity = 0.39894228040143268F;  // 1/√(2π)
inline constexpr float kCubic = 0.044715F;

// (1 + tanh u) / 2 and (1 - tanh u) / 2, from the exponential that is at most 1: nothing cancels.
struct Halves {
  float plus;
  float minus;
};

inline __device__ Halves tanh_halves(float z) {
  const float twice = 2 * kSlope * (z + kCubic * z * z * z);
  const float e = __expf(-fabsf(twice));
  const float large = __fdividef(1, 1 + e);
  const float small = e * large;
  return twice < 0 ? Halves{small, large} : Halves{large, small};
}

struct None {
  __device__ float value(float z) const { return z; }
  __device__ float slope(float, float dy) const { return dy; }
};

struct Relu {
  __device__ float value(float z) const { return z < 0 ? 0.0F : z; }
  __device__ float slope(float z, float dy) const { return z <= 0 ? 0.0F : dy; }
};

struct GeluErf {
  __device__ float value(float z) const { return __fmul_rn(0.5F * z, 1 + erff(z * kSqrtHalf)); }
  __device__ float slope(float z, float dy) const {
    const float below = 0.5F * (1 + erff(z * kSqrtHalf));
    return __fmul_rn(dy, below + z * __expf(-0.5F * z * z) * kDensity);
  }
};

struct GeluTanh {
  __device__ float value(float z) const { return __fmul_rn(z, tanh_halves(z).plus); }
  __device__ float slope(float z, float dy) const {
    const Halves halves = tanh_halves(z);
    const float inner = kSlope * (1 + 3 * kCubic * z * z);
    return __fmul_rn(dy, halves.plus + 2 * z * halves.plus * halves.minus * inner);
  }
};

// The sigmoid and what it is less than 1, from the exponential that is at most 1: nothing cancels.
inline __device__ Halves sigmoid_halves(float z) {
  const float e = __expf(-fabsf(z));
  const float large = __fdividef(1, 1 + e);
  const float small = e * large;
  return z < 0 ? Halves{small, large} : Halves{large, small};
}

struct Silu {
  __device__ float value(float z) const { return __fmul_rn(z, sigmoid_halves(z).plus); }
  __device__ float slope(float z, float dy) const {
    const Halves sigmoid = sigmoid_halves(z);
    return __fmul_rn(dy, sigmoid.plus + z * sigmoid.plus * sigmoid.minus);
  }
};

// Its slope is told by its result.
struct Tanh {
  __device__ float value(float z) const { return tanhf(z); }
  __device__ float slope(float y, float dy) const { return __fmul_rn(dy, 1 - __fmul_rn(y, y)); }
};

}  // namespace trainscope::kernels
