// A grid of unequal blocks against sums that can be done by hand, and against bounds.
#include "machine/uneven_blocks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

using namespace trainscope::machine;

namespace {

double time_of(std::vector<double> lengths, std::int64_t repeats, SmPlaces places) {
  return grid_time(lengths, repeats, places);
}

}  // namespace

TEST_CASE("equal blocks take as many rounds as the SM that has the most") {
  CHECK(time_of({3}, 8, {4, 1}) == 6);
  CHECK(time_of({3}, 9, {4, 1}) == 9);
  CHECK(time_of({3}, 8, {4, 2}) == 6);  // two beside each other take twice as long
  CHECK(time_of({3}, 9, {4, 2}) == 9);
  CHECK(time_of({3}, 2, {4, 2}) == 3);
}

TEST_CASE("a long block that begins last keeps one SM at work") {
  CHECK(time_of({1, 1, 1, 1, 4}, 1, {2, 1}) == 6);
  CHECK(time_of({4, 1, 1, 1, 1}, 1, {2, 1}) == 4);
}

TEST_CASE("blocks beside each other share their SM, and the last has it to itself") {
  CHECK(time_of({1, 3}, 1, {1, 2}) == 4);     // 2 for the first, then 2 alone
  CHECK(time_of({1, 3, 2}, 1, {1, 2}) == 6);  // an SM is never idle while it has blocks
  CHECK(time_of({2, 2, 6}, 1, {2, 2}) == 8);  // the third beside the first
}

TEST_CASE("a grid takes at least its share of all SMs and at most its longest block more") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const auto upto = [&](std::uint32_t most) { return static_cast<int>(random() % most) + 1; };
    std::vector<double> lengths(static_cast<std::size_t>(upto(40)));
    for (double& length : lengths) length = upto(50);
    const SmPlaces places{upto(20), upto(4)};
    const std::int64_t repeats = upto(400);
    const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    const double even = all * static_cast<double>(repeats) / static_cast<double>(places.sms);
    const double longest = *std::ranges::max_element(lengths);
    const double time = time_of(lengths, repeats, places);
    CAPTURE(trial, places.sms, places.blocks_each, repeats);
    CHECK(time >= even * (1 - 1e-12));
    CHECK(time >= longest);
    CHECK(time <= even + longest * static_cast<double>(places.blocks_each) * (1 + 1e-12));
  }
}
