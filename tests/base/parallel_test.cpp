#include "base/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
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

TEST_CASE("work in order is done by no more threads than it may be, and told in its order") {
  std::atomic<int> at_work = 0, most = 0;
  std::vector<std::size_t> told;
  const auto work = [&](std::size_t i) {
    const int together = ++at_work;
    if (together > most) most = together;
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));  // the first is not the last
    --at_work;
  };
  in_order(50, 2, work, [&](std::size_t i) { told.push_back(i); });
  std::vector<std::size_t> all(50);
  std::iota(all.begin(), all.end(), std::size_t{0});
  CHECK(told == all);
  CHECK(most <= 2);
  in_order(0, 2, work, [](std::size_t) { FAIL("there is nothing to tell"); });
}

TEST_CASE("what work in order throws does not keep from being told what comes after it") {
  std::vector<std::size_t> told;
  const auto work = [](std::size_t i) {
    if (i == 7) throw std::bad_alloc();
    if (i == 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw std::runtime_error("the fourth");
    }
  };
  const auto tell = [&](std::size_t i) { told.push_back(i); };
  CHECK_THROWS_WITH(in_order(10, 2, work, tell), "the fourth");
  CHECK(told.size() == 10);
}
