#include "host/layer_norm.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope::host;

namespace {

struct Run {
  std::vector<float> y, mean, rstd, dx, dgamma, dbeta;
};

Run run(const MatrixShape& shape, Values x, Values gamma, Values beta, Values dy) {
  Run out{std::vector<float>(x.size()),      std::vector<float>(shape.rows),
          std::vector<float>(shape.rows),    std::vector<float>(x.size()),
          std::vector<float>(shape.columns), std::vector<float>(shape.columns)};
  layer_norm_forward(shape, x, gamma, beta, out.y, {out.mean, out.rstd});
  layer_norm_backward(shape, x, gamma, dy, out.mean, out.rstd, {out.dx, out.dgamma, out.dbeta},
                      Into::kReplace);
  return out;
}

}  // namespace

// The rows of "shifted" have a mean of 20 standard deviations. PyTorch computes y as
// x · rstd - mean · rstd there, which puts it 36 units from FP64. A mean of nearly nothing is
// measured against its like, so its last places are those of the row: PyTorch's is 4 units from
// FP64.
TEST_CASE("layer norm is PyTorch's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("layer_norm")) {
    const std::size_t columns = golden["gamma"].size();
    const MatrixShape shape{golden["x"].size() / columns, columns};
    const Run out = run(shape, golden["x"], golden["gamma"], golden["beta"], golden["dy"]);
    const bool shifted = golden.name == "shifted";
    golden.check("y", out.y, shifted ? 64 : 6);
    golden.check("mean", out.mean, 6);
    golden.check("rstd", out.rstd, 4);
    golden.check("dx", out.dx, shifted ? 14 : 6);
    golden.check("dgamma", out.dgamma, shifted ? 64 : 6);
    golden.check("dbeta", out.dbeta, 4);
  }
}

TEST_CASE("the gradients of layer norm are its slopes") {
  const MatrixShape shape{5, 9};
  std::vector<float> x = normal_values(45, 21);
  std::vector<float> gamma = normal_values(9, 22);
  std::vector<float> beta = normal_values(9, 23);
  const std::vector<float> dy = normal_values(45, 24);
  const Run out = run(shape, x, gamma, beta, dy);
  const auto loss = [&] { return dot(run(shape, x, gamma, beta, dy).y, dy); };
  check_gradient(x, loss, out.dx);
  check_gradient(gamma, loss, out.dgamma);
  check_gradient(beta, loss, out.dbeta);
}

TEST_CASE("each gradient of layer norm can be computed alone") {
  const MatrixShape shape{7, 30};
  const std::vector<float> x = normal_values(shape.size(), 25);
  const std::vector<float> gamma = normal_values(30, 26);
  const std::vector<float> dy = normal_values(shape.size(), 27);
  const Run whole = run(shape, x, gamma, gamma, dy);
  std::vector<float> dx(x.size());
  std::vector<float> dgamma(30);
  std::vector<float> dbeta(30);
  for (const NormGradients& one :
       {NormGradients{dx, {}, {}}, NormGradients{{}, dgamma, {}}, NormGradients{{}, {}, dbeta}}) {
    layer_norm_backward(shape, x, gamma, dy, whole.mean, whole.rstd, one, Into::kReplace);
  }
  CHECK(dx == whole.dx);
  CHECK(dgamma == whole.dgamma);
  CHECK(dbeta == whole.dbeta);
}
