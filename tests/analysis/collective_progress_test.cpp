// The ring's steps, carried out on numbers: at its end every place holds every sum.
#include "analysis/views/collective_progress.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace trainscope::analysis;

TEST_CASE("a ring that sends what is said sums every part at every place") {
  for (const int ranks : {2, 3, 4, 8, 16}) {
    // Ranks whose sum a place holds of a part, one bit a rank.
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<std::vector<unsigned>> held(n, std::vector<unsigned>(n));
    for (std::size_t place = 0; place < n; ++place)
      for (std::size_t part = 0; part < n; ++part) held[place][part] = 1U << place;
    for (int step = 0; step <= ring_steps(ranks); ++step) {
      INFO(ranks << " ranks, step " << step);
      for (int place = 0; place < ranks; ++place)
        for (int part = 0; part < ranks; ++part)
          CHECK(ranks_summed(ranks, step, place, part) ==
                __builtin_popcount(
                    held[static_cast<std::size_t>(place)][static_cast<std::size_t>(part)]));
      if (step == ring_steps(ranks)) break;
      const auto before = held;
      for (int place = 0; place < ranks; ++place) {
        const auto part = static_cast<std::size_t>(part_sent(ranks, step, place));
        const auto from = static_cast<std::size_t>(place), to = (from + 1) % n;
        if (step < ranks - 1)
          held[to][part] |= before[from][part];
        else
          held[to][part] = before[from][part];
      }
    }
    for (const auto& place : held)
      for (const unsigned sum : place) CHECK(sum == (1U << ranks) - 1);
  }
}

TEST_CASE("a ring's steps share its time evenly") {
  CHECK(ring_steps(4) == 6);
  CHECK(ring_moment(4, 0).step == 0);
  CHECK(ring_moment(4, 0.25).step == 1);
  CHECK(ring_moment(4, 0.25).within == Approx(0.5));
  CHECK(ring_moment(4, 1).step == 6);
  CHECK(ring_moment(1, 0.5).step == 0);
}
