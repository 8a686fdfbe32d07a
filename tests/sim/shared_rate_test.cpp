#include "sim/shared_rate.h"

#include <catch2/catch.hpp>
#include <random>

using trainscope::Nanos;
using trainscope::sim::SharedRate;

TEST_CASE("a task alone is served at its own limit") {
  SharedRate rate(10);
  rate.admit(0, 1, 100, 4);
  CHECK(rate.next_finish() == 25);
}

TEST_CASE("two equal tasks share, and the one that stays speeds up when the other leaves") {
  SharedRate rate(10);
  rate.admit(0, 1, 100, 10);
  rate.admit(0, 2, 50, 10);
  CHECK(rate.next_finish() == 10);
  CHECK(rate.finish(10) == std::vector<std::uint32_t>{2});
  CHECK(rate.next_finish() == 15);
  CHECK(rate.finish(15) == std::vector<std::uint32_t>{1});
  CHECK(rate.idle());
}

TEST_CASE("what a limited task leaves goes to the others") {
  SharedRate rate(10);
  rate.admit(0, 1, 20, 2);
  rate.admit(0, 2, 80, 10);
  CHECK(rate.next_finish() == 10);
  CHECK(rate.finish(10).size() == 2);
}

TEST_CASE("a task that comes later slows the one that is there") {
  SharedRate rate(10);
  rate.admit(0, 1, 100, 10);
  rate.admit(5, 2, 1000, 10);
  CHECK(rate.next_finish() == 15);
}

TEST_CASE("a task of no work is done at once") {
  SharedRate rate(10);
  rate.admit(7, 1, 0, 10);
  CHECK(rate.next_finish() == 7);
  CHECK(rate.finish(7).size() == 1);
}

TEST_CASE("work done never exceeds capacity times time, for random arrivals") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const double capacity = 1 + static_cast<double>(random() % 50);
    SharedRate rate(capacity);
    double admitted = 0;
    Nanos now = 0;
    std::uint32_t next = 0;
    std::size_t finished = 0;
    while (next < 20 || !rate.idle()) {
      if (next < 20 && (rate.idle() || random() % 2)) {
        const double work = static_cast<double>(random() % 5000);
        rate.admit(now, next++, work, 1 + static_cast<double>(random() % 60));
        admitted += work;
      } else {
        now = rate.next_finish();
        finished += rate.finish(now).size();
      }
    }
    CHECK(finished == 20);
    CHECK(admitted <= capacity * static_cast<double>(now) + 1e-6);
  }
}
