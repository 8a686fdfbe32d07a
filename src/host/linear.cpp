#include "host/linear.h"

#include <algorithm>
#include <cassert>

#include "host/bias.h"
#include "host/blas.h"

namespace trainscope::host {

void linear_forward(const LinearShape& shape, Values x, Values w, Values bias, Results y,
                    const Workers& workers) {
  assert(x.size() >= shape.extent() && w.size() == shape.outputs * shape.inputs);
  assert(y.size() == shape.rows * shape.outputs);
  assert(bias.empty() || bias.size() == shape.outputs);
  for (std::size_t row = 0; row < shape.rows && !bias.empty(); ++row) {
    std::copy(bias.begin(), bias.end(), y.begin() + static_cast<std::ptrdiff_t>(row * bias.size()));
  }
  gemm({shape.rows, shape.outputs, shape.inputs}, {x.data(), shape.stride()},
       {w.data(), shape.inputs, true},
       {y.data(), shape.outputs, bias.empty() ? Into::kReplace : Into::kAdd}, 1, workers);
}

void linear_backward(const LinearShape& shape, Values x, Values w, Values dy,
                     const LinearGradients& gradients, Into into, const Workers& workers) {
  assert(dy.size() == shape.rows * shape.outputs);
  if (!gradients.dw.empty()) {
    assert(x.size() >= shape.extent());
    assert(gradients.dw.size() == shape.outputs * shape.inputs);
    gemm({shape.outputs, shape.inputs, shape.rows}, {dy.data(), shape.outputs, true},
         {x.data(), shape.stride()}, {gradients.dw.data(), shape.inputs, into}, 1, workers);
  }
  if (!gradients.db.empty()) {
    bias_backward({shape.rows, shape.outputs}, dy, gradients.db, into, workers);
  }
  if (!gradients.dx.empty()) {
    assert(w.size() == shape.outputs * shape.inputs);
    assert(gradients.dx.size() == shape.rows * shape.inputs);
    gemm({shape.rows, shape.inputs, shape.outputs}, {dy.data(), shape.outputs},
         {w.data(), shape.inputs}, {gradients.dx.data(), shape.inputs}, 1, workers);
  }
}

}  // namespace trainscope::host
