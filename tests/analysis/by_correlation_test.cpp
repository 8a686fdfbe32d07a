#include "analysis/steps/by_correlation.h"

#include <catch2/catch.hpp>
#include <random>
#include <unordered_map>

using namespace trainscope;
using analysis::ByCorrelation;

TEST_CASE(
    "calls are found by their correlation, near ones and far ones, as a plain map finds them") {
  std::mt19937 random(1);
  const trace::Trace trace{trace::Origin{}};
  ByCorrelation<Nanos> firsts(trace, -1), lasts(trace, -1);
  std::unordered_map<std::uint32_t, Nanos> first, last;
  const auto any = [&] {
    const auto bits = static_cast<std::uint32_t>(random());
    return random() % 2 == 0 ? bits % 3000 : bits;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t correlation = any();
    const auto time = static_cast<Nanos>(random());
    firsts.add(correlation, time);
    lasts.set(correlation, time);
    first.try_emplace(correlation, time);
    last[correlation] = time;
    const std::uint32_t asked = any();
    REQUIRE((firsts.find(asked) != nullptr) == first.contains(asked));
    REQUIRE((lasts.find(asked) != nullptr) == last.contains(asked));
    REQUIRE(*firsts.find(correlation) == first.at(correlation));
    REQUIRE(*lasts.find(correlation) == last.at(correlation));
  }
}
