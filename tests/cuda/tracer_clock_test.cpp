// A tracer's clock, laid on the host's.
#include "cuda/tracer_clock.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace trainscope;
using namespace trainscope::cuda;

TEST_CASE("of readings of two clocks the one counts between which the least time lies") {
  // The host's clock at each look: the second reading takes 10 ns, others more.
  const std::vector<Nanos> looks{100, 200, 300, 310};
  std::size_t look = 0;
  Nanos there = 5000;
  const ClockReading read = read_together([&] { return ++there; },
                                          [&] {
                                            const std::size_t i = look++;
                                            return i < looks.size() ? looks[i] : Nanos(1000 * i);
                                          });
  CHECK(read.theirs == 5002);
  CHECK(read.ours == 305);
}

TEST_CASE("times of a clock that goes faster lie on a line between two readings, and beyond") {
  constexpr Nanos kSince1970 = 1'700'000'000'000'000'000;
  constexpr Nanos kSecond = 1'000'000'000;
  const auto theirs = [](Nanos ours) { return kSince1970 + ours + ours / 10'000; };
  const ClockLine line({theirs(kSecond), kSecond}, {theirs(3 * kSecond), 3 * kSecond});
  for (const Nanos time : {kSecond / 2, kSecond, 2 * kSecond + 12345, 3 * kSecond, 4 * kSecond})
    CHECK(std::abs(line.ours(theirs(time)) - time) <= 1);
}

TEST_CASE("a clock that was set meanwhile, or was not read, keeps the pace of ours") {
  CHECK(ClockLine({1000, 50}, {901'000, 1'000'050}).ours(2000) == 1050);
  CHECK(ClockLine({1000, 50}, {1000, 50}).ours(2000) == 1050);
  CHECK(ClockLine().ours(777) == 777);
}
