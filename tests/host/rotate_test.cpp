#include "host/rotate.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"
#include "program/rotary.h"

using namespace trainscope::host;

namespace {

std::vector<float> turned(Rotation shape, double theta, Values x, bool back = false) {
  shape.back = back;
  std::vector<float> y(x.size());
  rotate(shape, trainscope::program::rotary_frequencies(shape.width, theta), x, y);
  return y;
}

}  // namespace

TEST_CASE("rotary embedding is Llama's, forward and backward") {
  for (const GoldenCase& golden : golden_cases("rotary")) {
    const Rotation shape{golden.count("batch"), golden.count("length"), golden.count("heads"),
                         golden.count("width")};
    const double theta = golden.number("theta", 0);
    golden.check("y", turned(shape, theta, golden["x"]), 4);
    golden.check("dx", turned(shape, theta, golden["dy"], true), 4);
  }
}

TEST_CASE("the gradient of a rotation is its slope, and the rotation back") {
  const Rotation shape{2, 3, 2, 6};
  constexpr double kTheta = 100;
  std::vector<float> x = normal_values(72, 31);
  const std::vector<float> dy = normal_values(72, 32);
  check_gradient(
      x, [&] { return dot(turned(shape, kTheta, x), dy); }, turned(shape, kTheta, dy, true));
  const std::vector<float> again = turned(shape, kTheta, turned(shape, kTheta, x), true);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(again[i] == Approx(x[i]).margin(1e-5));
}
