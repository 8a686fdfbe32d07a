#include "kernels/rms_norm.h"

#include "host/rms_norm.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Into;
using kernels::Matrix;

namespace {

template <typename T>
void check(const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 1));
  const auto dy = rounded<T>(numbers(shape.size(), 2));
  const std::vector<float> gamma = numbers(shape.columns, 3);
  const host::MatrixShape matrix{shape.rows, shape.columns};
  std::vector<float> host_y(shape.size()), host_rstd(shape.rows), host_dx(shape.size());
  std::vector<float> host_dgamma = numbers(shape.columns, 4), dgamma = host_dgamma;
  host::rms_norm_forward(matrix, floats(x), gamma, host_y, host_rstd);
  host::rms_norm_backward_input(matrix, floats(x), gamma, floats(dy), host_rstd, host_dx);
  host::rms_norm_backward_weight(matrix, floats(x), floats(dy), host_rstd, host_dgamma,
                                 host::Into::kAdd);

  std::vector<T> y(shape.size()), dx(shape.size());
  std::vector<float> rstd(shape.rows), workspace(kernels::rms_norm_workspace(shape));
  kernels::rms_norm_forward(stream, shape, x.data(), gamma.data(), host::kRmsNormEps, y.data(),
                            rstd.data());
  check_near(y, host_y, 6);
  check_near(rstd, host_rstd, 4);
  kernels::rms_norm_backward_input(stream, shape, x.data(), gamma.data(), dy.data(),
                                   host_rstd.data(), dx.data());
  check_near(dx, host_dx, 6);
  kernels::rms_norm_backward_weight(stream, shape, x.data(), dy.data(), host_rstd.data(),
                                    workspace.data(), dgamma.data(), Into::kAdd);
  check_near(dgamma, host_dgamma, 6);
}

}  // namespace

TEST_CASE("RMS norm is the host's, forward and backward, in any order of threads") {
  for (const Stream stream : kOrders)
    for (const Matrix& shape : {Matrix{1, 8}, Matrix{5, 33}, Matrix{3, 1000}, Matrix{700, 24}}) {
      check<float>(shape, stream);
      check<Half>(shape, stream);
      check<Bfloat16>(shape, stream);
    }
}
