// Log-softmax and the negative log-likelihood, which together are cross-entropy.
#include "host/log_softmax.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "host/cross_entropy.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/nll_loss.h"

using namespace trainscope;
using namespace trainscope::host;

TEST_CASE("log-softmax is PyTorch's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("log_softmax")) {
    const std::size_t rows = golden.count("rows");
    const MatrixShape shape{rows, golden["x"].size() / rows};
    std::vector<float> y(shape.size());
    std::vector<float> dx(shape.size());
    log_softmax_forward(shape, golden["x"], y);
    golden.check("y", y, 2);
    log_softmax_backward(shape, y, golden["dy"], dx);
    golden.check("dx", dx, 8);
  }
}

TEST_CASE("the gradient of log-softmax is its slope") {
  const MatrixShape shape{4, 7};
  std::vector<float> x = normal_values(28, 111, 2);
  const std::vector<float> dy = normal_values(28, 112);
  std::vector<float> y(28);
  const auto loss = [&] {
    log_softmax_forward(shape, x, y);
    return dot(y, dy);
  };
  loss();
  std::vector<float> dx(28);
  log_softmax_backward(shape, y, dy, dx);
  check_gradient(x, loss, dx);
}

TEST_CASE("log-softmax works in place, and a NaN spoils its row alone") {
  const MatrixShape shape{2, 9};
  std::vector<float> x = normal_values(18, 113);
  std::vector<float> y(18);
  log_softmax_forward(shape, x, y);
  std::vector<float> same = x;
  log_softmax_forward(shape, same, same);
  CHECK(same == y);
  std::vector<float> dx(18);
  log_softmax_backward(shape, y, x, dx);
  log_softmax_backward(shape, y, x, x);
  CHECK(x == dx);

  x[13] = std::numeric_limits<float>::quiet_NaN();
  log_softmax_forward(shape, x, y);
  for (std::size_t i = 0; i < 18; ++i) CHECK(std::isnan(y[i]) == (i >= 9));
}

TEST_CASE("the negative log-likelihood is PyTorch's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("nll_loss")) {
    const auto& targets = golden.integers.at("targets");
    const MatrixShape shape{targets.size(), golden["log_p"].size() / targets.size()};
    std::vector<float> loss(1);
    nll_loss_forward(shape, golden["log_p"], targets, loss);
    golden.check("loss", loss, 1);
    std::vector<float> dlog_p(shape.size(), 5.0F);
    nll_loss_backward(shape, targets, static_cast<float>(golden.number("dloss", 1)), dlog_p);
    golden.check("dlog_p", dlog_p, 1);
  }
}

TEST_CASE("the gradient of the negative log-likelihood is its slope") {
  const MatrixShape shape{5, 4};
  std::vector<float> log_p = normal_values(20, 114);
  const std::vector<std::int64_t> targets = {3, 0, kIgnoredTarget, 2, 2};
  std::vector<float> dlog_p(20);
  nll_loss_backward(shape, targets, 1, dlog_p);
  const auto loss = [&] {
    std::vector<float> value(1);
    nll_loss_forward(shape, log_p, targets, value);
    return static_cast<double>(value[0]);
  };
  check_gradient(log_p, loss, dlog_p);
}

TEST_CASE("log-softmax and negative log-likelihood are cross-entropy") {
  const MatrixShape shape{12, 10};
  const std::vector<float> logits = normal_values(shape.size(), 115, 3);
  std::vector<std::int64_t> targets;
  for (std::int64_t row = 0; row < 12; ++row) targets.push_back(row % 5 == 4 ? -100 : row % 10);
  std::vector<float> log_p(shape.size());
  std::vector<float> loss(1);
  log_softmax_forward(shape, logits, log_p);
  nll_loss_forward(shape, log_p, targets, loss);
  std::vector<float> dx(shape.size());
  nll_loss_backward(shape, targets, 0.5F, dx);
  log_softmax_backward(shape, log_p, dx, dx);

  std::vector<float> gradient = logits;
  std::vector<float> statistics(24);
  const float whole = cross_entropy_forward(shape, logits, targets, statistics);
  cross_entropy_backward(shape, gradient, targets, statistics, 0.5F);
  CHECK(worst_distance(loss, Values(&whole, 1)) <= 2);
  CHECK(worst_distance(dx, Values(gradient)) <= 4);
}

TEST_CASE("a likelihood of nothing is not a number, and of no class is refused by its row") {
  const std::vector<float> log_p(6);
  std::vector<float> loss(1);
  nll_loss_forward({2, 3}, log_p, std::vector<std::int64_t>{-100, -100}, loss);
  CHECK(std::isnan(loss[0]));
  std::vector<float> dlog_p(6, 1.0F);
  nll_loss_backward({2, 3}, std::vector<std::int64_t>{-100, -100}, 1, dlog_p);
  CHECK(dlog_p == std::vector<float>(6, 0.0F));
  CHECK_THROWS_WITH(nll_loss_forward({2, 3}, log_p, std::vector<std::int64_t>{0, 3}, loss),
                    "target 3 of row 1 is no class: there are 3, from 0 to 2");
  CHECK_THROWS_AS(nll_loss_backward({2, 3}, std::vector<std::int64_t>{0, -1}, 1, dlog_p),
                  InputError);
}
