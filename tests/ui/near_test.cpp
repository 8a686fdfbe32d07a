#include "ui/timeline/near.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace trainscope;

TEST_CASE("a search near a guess finds what a search through all finds, whatever the guess") {
  std::mt19937 random(2);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 20'000; ++round) {
    std::vector<int> sorted(below(200));
    for (int& one : sorted) one = static_cast<int>(below(100));
    std::sort(sorted.begin(), sorted.end());
    const std::size_t from = below(sorted.size() + 1);
    const int time = static_cast<int>(below(110)) - 5;
    const auto plain =
        std::lower_bound(sorted.begin() + static_cast<std::ptrdiff_t>(from), sorted.end(), time);
    const std::size_t found = ui::first_past(from, sorted.size(), below(250), [&](std::size_t at) {
      REQUIRE((at >= from && at < sorted.size()));
      return sorted[at] >= time;
    });
    REQUIRE(found == static_cast<std::size_t>(plain - sorted.begin()));
  }
}
