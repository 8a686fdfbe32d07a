#include "host/cross_entropy.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope;
using namespace trainscope::host;

// A gradient is measured against the root mean square of all, mostly small, gradients.
TEST_CASE("cross-entropy is PyTorch's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("cross_entropy")) {
    const auto& targets = golden.integers.at("targets");
    const MatrixShape shape{targets.size(), golden["logits"].size() / targets.size()};
    std::vector<float> logits = golden["logits"];
    std::vector<float> statistics(2 * shape.rows);
    const float loss = cross_entropy_forward(shape, logits, targets, statistics);
    golden.check("loss", {&loss, 1}, 2);
    const auto dloss = static_cast<float>(golden.number("dloss", 1));
    cross_entropy_backward(shape, logits, targets, statistics, dloss);
    golden.check("dx", logits, 4);
  }
}

TEST_CASE("the gradient of cross-entropy is its slope") {
  const MatrixShape shape{6, 5};
  std::vector<float> logits = normal_values(30, 11, 2);
  const std::vector<std::int64_t> targets = {0, 4, 2, kIgnoredTarget, 1, 1};
  std::vector<float> statistics(12);
  const auto loss = [&] { return cross_entropy_forward(shape, logits, targets, statistics); };
  loss();
  std::vector<float> gradient = logits;
  cross_entropy_backward(shape, gradient, targets, statistics, 1);
  check_gradient(logits, loss, gradient);
}

TEST_CASE("a loss of infinite or missing logits is not a number") {
  std::vector<float> statistics(4);
  const std::vector<std::int64_t> targets = {0, 1};
  std::vector<float> logits = {1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  CHECK(std::isnan(cross_entropy_forward({2, 2}, logits, targets, statistics)));
  logits[2] = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(cross_entropy_forward({2, 2}, logits, targets, statistics)));
  const std::vector<std::int64_t> ignored = {kIgnoredTarget, kIgnoredTarget};
  CHECK(std::isnan(cross_entropy_forward({2, 2}, logits, ignored, statistics)));
}

TEST_CASE("a target that is no class is refused by its row") {
  const std::vector<float> logits(6);
  std::vector<float> statistics(4);
  const std::vector<std::int64_t> above = {2, 3};
  CHECK_THROWS_WITH(cross_entropy_forward({2, 3}, logits, above, statistics),
                    "target 3 of row 1 is no class: there are 3, from 0 to 2");
  const std::vector<std::int64_t> below = {2, -1};
  CHECK_THROWS_WITH(cross_entropy_forward({2, 3}, logits, below, statistics),
                    "target -1 of row 1 is no class: there are 3, from 0 to 2");
}
