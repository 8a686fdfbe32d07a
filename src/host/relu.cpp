#include "host/relu.h"

#include <cassert>
#include <cstddef>

namespace trainscope::host {

void relu_forward(Values x, Results y) {
  assert(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] < 0 ? 0.0F : x[i];
}

void relu_backward(Values y, Values dy, Results dx) {
  assert(y.size() == dy.size() && dy.size() == dx.size());
  for (std::size_t i = 0; i < y.size(); ++i) dx[i] = y[i] <= 0 ? 0.0F : dy[i];
}

}  // namespace trainscope::host
