#include "host/elementwise.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope::host;

TEST_CASE("sums and multiples are PyTorch's, exactly, in place too") {
  const GoldenCase golden = golden_case("elementwise", "arithmetic");
  std::vector<float> sum = golden["a"];
  add(sum, golden["b"], sum);
  golden.check("sum", sum, 0);
  std::vector<float> scaled = golden["a"];
  scale(scaled, static_cast<float>(golden.number("factor", 0)), scaled);
  golden.check("scaled", scaled, 0);
  fill(scaled, 2.5F);
  CHECK(scaled == std::vector<float>(scaled.size(), 2.5F));
}

TEST_CASE("the gradients of sums and multiples are their slopes") {
  std::vector<float> a = normal_values(20, 121);
  const std::vector<float> b = normal_values(20, 122);
  const std::vector<float> dy = normal_values(20, 123);
  std::vector<float> da(20);
  scale(dy, 3, da);
  const auto loss = [&] {
    std::vector<float> y(20);
    add(a, b, y);
    scale(y, 3, y);
    return dot(y, dy);
  };
  check_gradient(a, loss, da);
}
