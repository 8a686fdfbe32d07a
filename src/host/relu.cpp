#include "host/relu.h"

#include <cassert>
#include <cstddef>

namespace trainscope::host {

void relu_forward(Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(x.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) y[i] = x[i] < 0 ? 0.0F : x[i];
  });
}

void relu_backward(Values y, Values dy, Results dx, const Workers& workers) {
  assert(y.size() == dy.size() && dy.size() == dx.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
      const float passed = dy[i];  // read in any case, so that there is no branch
      dx[i] = y[i] <= 0 ? 0.0F : passed;
    }
  });
}

}  // namespace trainscope::host
