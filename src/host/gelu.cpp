#include "host/gelu.h"

#include <cassert>
#include <cstddef>
#include <numbers>

namespace trainscope::host {
namespace {

constexpr float kSqrtHalf = static_cast<float>(1 / std::numbers::sqrt2);
// √(2/π) and 1/√(2π), from √2 and 1/√π.
constexpr auto kSlope = static_cast<float>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
constexpr auto kDensity = static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
constexpr float kCubic = 0.044715F;

inline float erf_value(float x) {
  return 0.5F * x * (1 + std::erf(x * kSqrtHalf));
}

inline float erf_slope(float x) {
  const float below = 0.5F * (1 + std::erf(x * kSqrtHalf));
  return below + x * std::exp(-0.5F * x * x) * kDensity;
}

// (1 + tanh u) / 2 and (1 - tanh u) / 2, from the exponential that is at most 1: nothing cancels,
// and it is cheaper than a tanh.
struct Halves {
  float plus;
  float minus;
};

inline Halves tanh_halves(float x) {
  const float twice = 2 * kSlope * (x + kCubic * x * x * x);
  const float e = std::exp(-std::abs(twice));
  const float large = 1 / (1 + e);
  const float small = e * large;
  return twice < 0 ? Halves{small, large} : Halves{large, small};
}

inline float tanh_value(float x) {
  return x * tanh_halves(x).plus;
}

inline float tanh_slope(float x) {
  const auto [plus, minus] = tanh_halves(x);
  const float inner = kSlope * (1 + 3 * kCubic * x * x);
  return plus + 2 * x * plus * minus * inner;
}

// A value costs several nanoseconds.
constexpr std::size_t kGeluGrain = kGrain / 4;

}  // namespace

void gelu_forward(Gelu kind, Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(x.size(), kGeluGrain, [&](std::size_t begin, std::size_t end) {
    if (kind == Gelu::kErf) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) y[i] = erf_value(x[i]);
    } else {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) y[i] = tanh_value(x[i]);
    }
  });
}

void gelu_backward(Gelu kind, Values x, Values dy, Results dx, const Workers& workers) {
  assert(x.size() == dy.size() && dy.size() == dx.size());
  workers.for_ranges(x.size(), kGeluGrain, [&](std::size_t begin, std::size_t end) {
    if (kind == Gelu::kErf) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) dx[i] = dy[i] * erf_slope(x[i]);
    } else {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) dx[i] = dy[i] * tanh_slope(x[i]);
    }
  });
}

}  // namespace trainscope::host
