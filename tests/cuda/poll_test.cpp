// Waiting for what nothing wakes a thread for.
#ifdef __linux__
#include "cuda/plugin/poll.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace trainscope;

TEST_CASE("what comes at once is waited for without a pause, what comes later with exact ones") {
  int looks = 0, at_once = 0, meanwhile = 0, before = 0, after = 0;
  const auto slack = [] { return prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL); };
  std::thread([&] {  // whose slack it is
    cuda::poll([&] { return ++looks == 3; }, [&] { ++at_once; });
    before = slack();
    cuda::poll([&] { return meanwhile == 2; }, [&] { ++meanwhile; });
    after = slack();
  })
      .join();
  CHECK(looks == 3);
  CHECK(at_once == 0);
  CHECK(before == slack());  // as the thread had it from ours
  CHECK(meanwhile == 2);
  CHECK(after == 1);
}

TEST_CASE("who waits in vain ends with what is thrown meanwhile") {
  const auto fails = [] { throw std::runtime_error("in vain"); };
  CHECK_THROWS_WITH(cuda::poll([] { return false; }, fails), "in vain");
}
#endif
