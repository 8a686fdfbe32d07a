#include "host/tanh.h"

#include <cassert>
#include <cstddef>

namespace trainscope::host {
namespace {

// A value costs several nanoseconds.
constexpr std::size_t kTanhGrain = kGrain / 4;

}  // namespace

void tanh_forward(Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(x.size(), kTanhGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) y[i] = std::tanh(x[i]);
  });
}

void tanh_backward(Values y, Values dy, Results dx, const Workers& workers) {
  assert(y.size() == dy.size() && dy.size() == dx.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) dx[i] = dy[i] * (1 - y[i] * y[i]);
  });
}

}  // namespace trainscope::host
