#include "host/dropout.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope;
using namespace trainscope::host;

TEST_CASE("dropout is PyTorch's under the same mask, which another Philox drew as well") {
  for (const GoldenCase& golden : golden_cases("dropout")) {
    const auto word = [&](const char* key) {
      return static_cast<std::uint64_t>(golden.numbers.at(key));
    };
    const Dropout dropout{static_cast<float>(golden.numbers.at("p")), word("seed"), word("stream"),
                          word("offset")};
    std::vector<float> y(golden["x"].size());
    apply_dropout(dropout, golden["x"], y);
    golden.check("y", y, 1);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK((golden["y"][i] != 0) == is_kept(dropout, i));
  }
}

TEST_CASE("the gradient of dropout is its slope") {
  const Dropout dropout{0.3F, 5, 1, 2};
  std::vector<float> x = normal_values(50, 41);
  const std::vector<float> dy = normal_values(50, 42);
  std::vector<float> dx(50);
  apply_dropout(dropout, dy, dx);
  const auto loss = [&] {
    std::vector<float> y(50);
    apply_dropout(dropout, x, y);
    return dot(y, dy);
  };
  check_gradient(x, loss, dx);
}

TEST_CASE("dropout drops its share and keeps the mean") {
  const std::size_t count = 100'000;
  std::vector<float> y(count);
  apply_dropout({0.2F, 9, 0, 0}, std::vector<float>(count, 1.0F), y);
  double sum = 0;
  for (const float value : y) sum += value;
  CHECK(std::abs(sum / static_cast<double>(count) - 1) < 5 * 0.5 / std::sqrt(count));
}

TEST_CASE("two ranges of one stream are the two halves of one range") {
  const std::vector<float> ones(101, 1.0F);
  std::vector<float> whole(101);
  std::vector<float> halves(101);
  apply_dropout({0.5F, 3, 4, 10}, ones, whole);
  const Results parts = halves;
  apply_dropout({0.5F, 3, 4, 10}, Values(ones).first(50), parts.first(50));
  apply_dropout({0.5F, 3, 4, 60}, Values(ones).first(51), parts.last(51));
  CHECK(whole == halves);
}

TEST_CASE("dropout of nothing, of everything and of what is no share") {
  const std::vector<float> x = normal_values(9, 43);
  std::vector<float> y(9);
  apply_dropout({0.0F, 1, 0, 0}, x, y);
  CHECK(y == x);
  apply_dropout({1.0F, 1, 0, 0}, x, y);
  CHECK(y == std::vector<float>(9, 0.0F));
  CHECK_THROWS_AS(apply_dropout({1.5F, 1, 0, 0}, x, y), InputError);
  CHECK_THROWS_AS(apply_dropout({std::numeric_limits<float>::quiet_NaN(), 1, 0, 0}, x, y),
                  InputError);
}
