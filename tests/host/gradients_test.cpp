// What happens to gradients before the optimizer: clipping, unscaling.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "host/clip_gradients.h"
#include "host/golden.h"
#include "host/unscale.h"

using namespace trainscope::host;

TEST_CASE("clipping by norm is PyTorch's within a unit") {
  for (const char* name : {"clipped", "left"}) {
    const GoldenCase golden = golden_case("gradients", name);
    std::vector<float> a = golden["a"];
    std::vector<float> b = golden["b"];
    std::vector<float> c = golden["c"];
    const std::array<Results, 3> all{a, b, c};
    const float norm = clip_gradients(all, golden.numbers.at("max_norm"));
    golden.check("norm", {&norm, 1}, 1);
    golden.check("a_after", a, 1);
    golden.check("b_after", b, 1);
    golden.check("c_after", c, 1);
  }
}

TEST_CASE("a norm that is not finite spoils the gradients, as in PyTorch") {
  std::vector<float> g = {1.0F, std::numeric_limits<float>::infinity()};
  const std::array<Results, 1> all{g};
  CHECK(std::isinf(clip_gradients(all, 1)));
  CHECK(g[0] == 0.0F);
  CHECK(std::isnan(g[1]));
}

TEST_CASE("unscaling and the search for infinities are PyTorch's, exactly") {
  int seen = 0;
  for (const GoldenCase& golden : golden_cases("gradients")) {
    if (!golden.name.starts_with("unscale_")) continue;
    ++seen;
    std::vector<float> g = golden["g"];
    const auto scale = static_cast<float>(golden.numbers.at("scale"));
    const bool found = unscale(g, inverse_scale(scale));
    CHECK(found == (golden["found"][0] != 0));
    golden.check("after", g, 0);
  }
  CHECK(seen > 0);
}
