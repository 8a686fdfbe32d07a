#include "host/silu.h"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace trainscope::host {
namespace {

// A value costs several nanoseconds.
constexpr std::size_t kSiluGrain = kGrain / 4;

// σ(x) and 1 - σ(x), from the exponential that is at most 1: nothing cancels.
struct Sigmoid {
  float value;
  float rest;
};

inline Sigmoid sigmoid(float x) {
  const float e = std::exp(-std::abs(x));
  const float large = 1 / (1 + e);
  const float small = e * large;
  return x < 0 ? Sigmoid{small, large} : Sigmoid{large, small};
}

}  // namespace

void silu_forward(Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(x.size(), kSiluGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) y[i] = x[i] * sigmoid(x[i]).value;
  });
}

void silu_backward(Values x, Values dy, Results dx, const Workers& workers) {
  assert(x.size() == dy.size() && dy.size() == dx.size());
  workers.for_ranges(x.size(), kSiluGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
      const auto [value, rest] = sigmoid(x[i]);
      dx[i] = dy[i] * (value + x[i] * value * rest);
    }
  });
}

}  // namespace trainscope::host
