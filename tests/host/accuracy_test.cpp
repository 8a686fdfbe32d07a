#include "host/accuracy.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"

using namespace trainscope;
using namespace trainscope::host;

TEST_CASE("the largest of a row is PyTorch's, ties and NaNs too") {
  const GoldenCase golden = golden_case("accuracy", "ties");
  const auto& places = golden.integers.at("argmax");
  const MatrixShape shape{places.size(), 5};
  const Values x = golden["x"];
  for (std::size_t row = 0; row < shape.rows; ++row) {
    CHECK(argmax(x.subspan(row * 5, 5)) == static_cast<std::size_t>(places[row]));
  }
  const auto correct =
      static_cast<float>(correct_rows(shape, golden["x"], golden.integers.at("targets")));
  golden.check("correct", {&correct, 1}, 0);
}

TEST_CASE("a row without a target is not right, and one of no class is refused") {
  const std::vector<float> x = {1, 2, 4, 3};
  CHECK(correct_rows({2, 2}, x, std::vector<std::int64_t>{1, 0}) == 2);
  CHECK(correct_rows({2, 2}, x, std::vector<std::int64_t>{1, kIgnoredTarget}) == 1);
  CHECK_THROWS_WITH(correct_rows({2, 2}, x, std::vector<std::int64_t>{0, 2}),
                    "target 2 of row 1 is no class: there are 2, from 0 to 1");
}
