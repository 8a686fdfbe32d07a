#include "base/ticks.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("the time beside a tick has no more digits than it needs") {
  CHECK(format_tick(0) == "0");
  CHECK(format_tick(2.5e6) == "2.5 ms");
  CHECK(format_tick(5e6) == "5 ms");
  CHECK(format_tick(20e6) == "20 ms");
  CHECK(format_tick(500) == "500 ns");
  CHECK(format_tick(1.13e6) == "1.13 ms");
  CHECK(format_tick(1.1e6 * (1 + 1e-7)) == "1.1 ms");
  CHECK(format_tick(-1.5e3) == "-1.5 us");
}

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
