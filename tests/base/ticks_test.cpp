#include "base/ticks.h"

#include <catch2/catch.hpp>
#include <vector>

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

TEST_CASE("multiples of a step lie between two numbers, and at them") {
  CHECK(multiples(2, 0, 5) == std::vector<double>{0, 2, 4});
  CHECK(multiples(2, 1, 6) == std::vector<double>{2, 4, 6});
  CHECK(multiples(0.5, -1, 0) == std::vector<double>{-1, -0.5, 0});
  CHECK(multiples(5, 1, 4).empty());
  // Added up, ten tenths are less than one; a tenth more than one is not one.
  CHECK(multiples(0.1, 0, 1).size() == 11);
  CHECK(multiples(0.1, 0, 1 - 1e-12).size() == 11);
  CHECK(multiples(0.1, 0, 0.99).size() == 10);
}
