#include "base/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using namespace trainscope;

TEST_CASE("work that is shared is done once each, on one thread or several") {
  for (const bool worth : {true, false}) {
    std::vector<std::atomic<int>> done(1000);
    in_parallel(done.size(), [&](std::size_t i) { ++done[i]; }, worth);
    for (const std::atomic<int>& one : done) REQUIRE(one == 1);
  }
  in_parallel(0, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("what shared work throws is thrown once the rest is done") {
  std::atomic<int> done = 0;
  const auto work = [&](std::size_t i) {
    if (i == 3) throw std::runtime_error("the fourth");
    ++done;
  };
  CHECK_THROWS_WITH(in_parallel(100, work), "the fourth");
  CHECK(done == 99);
}
