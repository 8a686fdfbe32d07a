#include "kernels/activation.h"

#include <cmath>

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

constexpr float kSqrtHalf = 0.70710678118654752F;
constexpr float kSlope = 0.79788456080286536F;    // √(2/π)
constexpr float kDensity = 0.39894228040143268F;  // 1/√(2π)
constexpr float kCubic = 0.044715F;

// (1 + tanh u) / 2 and (1 - tanh u) / 2, from the exponential that is at most 1: nothing cancels.
struct Halves {
  float plus;
  float minus;
};

__device__ Halves tanh_halves(float z) {
  const float twice = 2 * kSlope * (z + kCubic * z * z * z);
  const float e = expf(-fabsf(twice));
  const float large = 1 / (1 + e);
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
  __device__ float value(float z) const { return 0.5F * z * (1 + erff(z * kSqrtHalf)); }
  __device__ float slope(float z, float dy) const {
    const float below = 0.5F * (1 + erff(z * kSqrtHalf));
    return dy * (below + z * expf(-0.5F * z * z) * kDensity);
  }
};

struct GeluTanh {
  __device__ float value(float z) const { return z * tanh_halves(z).plus; }
  __device__ float slope(float z, float dy) const {
    const Halves halves = tanh_halves(z);
    const float inner = kSlope * (1 + 3 * kCubic * z * z);
    return dy * (halves.plus + 2 * z * halves.plus * halves.minus * inner);
  }
};

// The values of a row's columns; none where there is no bias.
template <typename T>
struct Bias {
  const T* values;
  std::size_t columns;
  __device__ float operator()(std::size_t i) const {
    return values == nullptr ? 0.0F : widen(values[i % columns]);
  }
};

template <typename Act, typename T>
struct Forward {
  Bias<T> bias;
  __device__ float operator()(std::size_t i, float x) const { return Act{}.value(x + bias(i)); }
};

template <typename Act, typename T>
struct Backward {
  Bias<T> bias;
  __device__ float operator()(std::size_t i, float x, float dy) const {
    return Act{}.slope(x + bias(i), dy);
  }
};

template <typename Body>
void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::kNone:
      return body(None{});
    case Activation::kRelu:
      return body(Relu{});
    case Activation::kGeluErf:
      return body(GeluErf{});
    case Activation::kGeluTanh:
      return body(GeluTanh{});
  }
}

}  // namespace

template <typename T>
void bias_activation_forward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                             const T* bias, T* y) {
  with_activation(activation, [&](auto act) {
    const Forward<decltype(act), T> forward{{bias, shape.columns}};
    map("bias_activation_forward", stream, forward, shape.size(), y, x);
  });
}

template <typename T>
void bias_activation_backward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                              const T* bias, const T* dy, T* dx) {
  with_activation(activation, [&](auto act) {
    const Backward<decltype(act), T> backward{{bias, shape.columns}};
    map("bias_activation_backward", stream, backward, shape.size(), dx, x, dy);
  });
}

template void bias_activation_forward(Stream, Activation, const Matrix&, const float*, const float*,
                                      float*);
template void bias_activation_forward(Stream, Activation, const Matrix&, const Half*, const Half*,
                                      Half*);
template void bias_activation_forward(Stream, Activation, const Matrix&, const Bfloat16*,
                                      const Bfloat16*, Bfloat16*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const float*,
                                       const float*, const float*, float*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const Half*, const Half*,
                                       const Half*, Half*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const Bfloat16*,
                                       const Bfloat16*, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
