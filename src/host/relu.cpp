#include "host/relu.h"

#include <cassert>
#include <cstddef>

namespace trainscope::host {

void relu_forward(Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(x.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) y[i] = x[i] < 0 ? 0.0F : x[i];
  });
}

void relu_backward(Values y, Values dy, Results dx, const Workers& workers) {
  assert(y.size() == dy.size() && dy.size() == dx.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) dx[i] = y[i] <= 0 ? 0.0F : dy[i];
  });
}

}  // namespace trainscope::host
