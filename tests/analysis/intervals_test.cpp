#include "analysis/steps/intervals.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using trainscope::Nanos;
using trainscope::analysis::Interval;
using trainscope::analysis::IntervalSet;

namespace {

constexpr Nanos kEnd = 60;

IntervalSet random_set(std::mt19937& random) {
  std::vector<Interval> intervals;
  for (int i = static_cast<int>(random() % 8); i > 0; --i) {
    const auto start = static_cast<Nanos>(random() % kEnd);
    intervals.push_back({start, start + static_cast<Nanos>(random() % 9)});
  }
  return IntervalSet(intervals);
}

// The plain reference: one truth a nanosecond.
std::vector<bool> plain(const IntervalSet& set) {
  std::vector<bool> in(kEnd + 20, false);
  for (const Interval& one : set.intervals())
    for (Nanos t = one.start; t < one.end; ++t) in[static_cast<std::size_t>(t)] = true;
  return in;
}

}  // namespace

TEST_CASE("intervals that overlap or touch become one") {
  const IntervalSet set({{5, 7}, {0, 2}, {2, 4}, {6, 9}, {11, 11}});
  CHECK(set.intervals() == std::vector<Interval>{{0, 4}, {5, 9}});
  CHECK(set.length() == 8);
}

TEST_CASE("union, intersection and difference agree with a plain reference") {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const IntervalSet a = random_set(random), b = random_set(random);
    const auto in_a = plain(a), in_b = plain(b);
    const auto both = plain(a.intersected(b)), either = plain(a.united(b)),
               only = plain(a.without(b));
    for (std::size_t t = 0; t < in_a.size(); ++t) {
      REQUIRE(both[t] == (in_a[t] && in_b[t]));
      REQUIRE(either[t] == (in_a[t] || in_b[t]));
      REQUIRE(only[t] == (in_a[t] && !in_b[t]));
    }
    const Interval range{static_cast<Nanos>(random() % 30), 30 + static_cast<Nanos>(random() % 30)};
    REQUIRE(a.length_within(range) == a.intersected(IntervalSet({range})).length());
    REQUIRE(a.without(b).length() + a.intersected(b).length() == a.length());
  }
}
