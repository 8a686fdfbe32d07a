#include "host/rms_norm.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope::host;

namespace {

struct Run {
  std::vector<float> y, rstd, dx, dgamma;
};

Run run(const MatrixShape& shape, Values x, Values gamma, Values dy) {
  Run out{std::vector<float>(x.size()), std::vector<float>(shape.rows),
          std::vector<float>(x.size()), std::vector<float>(shape.columns)};
  rms_norm_forward(shape, x, gamma, out.y, out.rstd);
  rms_norm_backward_input(shape, x, gamma, dy, out.rstd, out.dx);
  rms_norm_backward_weight(shape, x, dy, out.rstd, out.dgamma, Into::kReplace);
  return out;
}

}  // namespace

TEST_CASE("RMS norm is PyTorch's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("rms_norm")) {
    const std::size_t columns = golden["gamma"].size();
    const MatrixShape shape{golden["x"].size() / columns, columns};
    const Run out = run(shape, golden["x"], golden["gamma"], golden["dy"]);
    golden.check("y", out.y, 6);
    golden.check("dx", out.dx, 6);
    golden.check("dgamma", out.dgamma, 6);
  }
}

TEST_CASE("the gradients of RMS norm are its slopes") {
  const MatrixShape shape{5, 9};
  std::vector<float> x = normal_values(45, 21);
  std::vector<float> gamma = normal_values(9, 22);
  const std::vector<float> dy = normal_values(45, 24);
  const Run out = run(shape, x, gamma, dy);
  const auto loss = [&] { return dot(run(shape, x, gamma, dy).y, dy); };
  check_gradient(x, loss, out.dx);
  check_gradient(gamma, loss, out.dgamma);
}
