// ReLU, GELU, tanh and SiLU.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "host/gelu.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/relu.h"
#include "host/silu.h"
#include "host/tanh.h"

using namespace trainscope::host;

TEST_CASE("ReLU is PyTorch's, exactly") {
  const GoldenCase golden = golden_case("activations", "relu");
  std::vector<float> y(golden["x"].size());
  relu_forward(golden["x"], y);
  golden.check("y", y, 0);
  relu_backward(y, golden["dy"], y);  // in place
  golden.check("dx", y, 0);
}

TEST_CASE("ReLU lets a NaN pass and stops a gradient at 0") {
  const std::vector<float> x = {std::numeric_limits<float>::quiet_NaN(), 0.0F, -1.0F, 2.0F};
  std::vector<float> y(4);
  relu_forward(x, y);
  CHECK(std::isnan(y[0]));
  std::vector<float> dx(4);
  relu_backward(y, std::vector<float>{1, 1, 1, 1}, dx);
  CHECK(dx == std::vector<float>{1, 0, 0, 1});
}

// PyTorch's own erf is up to 6 units from FP64 here, with its tanh 1, in its slopes 5.
TEST_CASE("GELU is PyTorch's within a few units, forward and backward") {
  for (const auto& [name, kind] : {std::pair{"gelu_erf", Gelu::kErf}, {"gelu_tanh", Gelu::kTanh}}) {
    const GoldenCase golden = golden_case("activations", name);
    std::vector<float> y(golden["x"].size());
    std::vector<float> dx(y.size());
    gelu_forward(kind, golden["x"], y);
    gelu_backward(kind, golden["x"], golden["dy"], dx);
    golden.check("y", y, kind == Gelu::kErf ? 8 : 3);
    golden.check("dx", dx, 8);
  }
}

// As glibc has it, of which libmvec's is at most 4 units off; backward cancels where |y| nears 1.
TEST_CASE("tanh is PyTorch's within a few units, forward and backward") {
  const GoldenCase golden = golden_case("activations", "tanh");
  std::vector<float> y(golden["x"].size());
  tanh_forward(golden["x"], y);
  golden.check("y", y, 5);
  std::vector<float> dx = golden["dy"];
  tanh_backward(y, dx, dx);  // in place
  golden.check("dx", dx, 12);
}

TEST_CASE("tanh's gradient is its slope, and nothing passes where it is saturated") {
  std::vector<float> x = normal_values(60, 11);
  const std::vector<float> dy = normal_values(60, 12);
  std::vector<float> y(60), dx(60);
  tanh_forward(x, y);
  tanh_backward(y, dy, dx);
  const auto loss = [&] {
    std::vector<float> again(60);
    tanh_forward(x, again);
    return dot(again, dy);
  };
  check_gradient(x, loss, dx);
  const std::vector<float> far = {40.0F, -40.0F, std::numeric_limits<float>::infinity()};
  std::vector<float> ends(3), none(3);
  tanh_forward(far, ends);
  CHECK(ends == std::vector<float>{1, -1, 1});
  tanh_backward(ends, std::vector<float>{1, 1, 1}, none);
  CHECK(none == std::vector<float>{0, 0, 0});
}

TEST_CASE("GELU's gradient is its slope") {
  for (const Gelu kind : {Gelu::kErf, Gelu::kTanh}) {
    std::vector<float> x = normal_values(60, 9, 2);
    const std::vector<float> dy = normal_values(60, 10);
    std::vector<float> dx(60);
    gelu_backward(kind, x, dy, dx);
    const auto loss = [&] {
      std::vector<float> y(60);
      gelu_forward(kind, x, y);
      return dot(y, dy);
    };
    check_gradient(x, loss, dx);
  }
}

TEST_CASE(
    "SiLU is PyTorch's within a few units, forward and backward, and its gradient its slope") {
  const GoldenCase golden = golden_case("activations", "silu");
  std::vector<float> y(golden["x"].size()), dx(y.size());
  silu_forward(golden["x"], y);
  silu_backward(golden["x"], golden["dy"], dx);
  golden.check("y", y, 4);
  golden.check("dx", dx, 8);
  std::vector<float> x = normal_values(60, 13);
  const std::vector<float> dy = normal_values(60, 14);
  dx.resize(60);
  silu_backward(x, dy, dx);
  const auto loss = [&] {
    std::vector<float> result(x.size());
    silu_forward(x, result);
    return dot(result, dy);
  };
  check_gradient(x, loss, dx);
}
