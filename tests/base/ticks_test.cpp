#include "base/ticks.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("a tick's step is round, and the least of which few enough fit") {
  CHECK(tick_step(10, 10) == Approx(1));
  CHECK(tick_step(10, 5) == Approx(2));
  CHECK(tick_step(10, 4) == Approx(5));
  CHECK(tick_step(10, 1) == Approx(10));
  CHECK(tick_step(0.3, 3) == Approx(0.1));
  for (double range = 1e-6; range < 1e9; range *= 1.37)
    for (const double most : {2.0, 5.0, 9.5}) {
      const double step = tick_step(range, most);
      CHECK(range / step <= most * (1 + 1e-8));
      CHECK(range / (step / 2.5) > most * (1 - 1e-8));  // the next smaller one is too small
    }
}
