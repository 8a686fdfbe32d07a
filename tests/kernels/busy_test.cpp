// The kernels that measure and teach.
#include "kernels/busy.h"

#include "base/error.h"
#include "kernels/bandwidth.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;

TEST_CASE("copy and triad move every value") {
  for (const std::size_t count : kCounts) {
    const std::vector<float> a = numbers(count, 91);
    const std::vector<float> b = numbers(count, 92);
    std::vector<float> c(count);
    kernels::copy_values(Stream{1}, a.data(), c.data(), count);
    CHECK(c == a);
    kernels::triad(Stream{2}, a.data(), b.data(), 3, c.data(), count);
    std::vector<float> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = a[i] + 3 * b[i];
    check_near(c, expected, 1);
  }
}

TEST_CASE("busy threads compute their chains, recorded or not") {
  const int chains = GENERATE(1, 2, 4, 8, 16);
  const int registers = GENERATE(1, 24, 25, 32, 33, 128, 248, 249, 255);
  const int rounds = GENERATE(9, 128, 300);
  const kernels::Busy busy{5, 64, 1000, chains, rounds, registers};
  std::vector<float> expected(5 * 64);
  for (std::size_t t = 0; t < expected.size(); ++t) expected[t] = kernels::busy_value(busy, t);
  std::vector<float> results(expected.size());
  kernels::keep_busy(Stream{}, busy, results.data(), nullptr);
  CHECK(results == expected);

  std::vector<kernels::BlockRecord> records(5);
  results.assign(results.size(), 0);
  kernels::keep_busy(Stream{7}, busy, results.data(), records.data());
  CHECK(results == expected);
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].start_ns < records[i].end_ns);
    // One SM, so one block after another.
    if (i > 0) CHECK(records[i - 1].end_ns < records[i].start_ns);
  }
}

TEST_CASE("numbers of chains and registers that there is no kernel for are refused") {
  float result = 0;
  CHECK_THROWS_AS(kernels::keep_busy(Stream{}, {1, 1, 0, 3, 1}, &result, nullptr), InputError);
  for (const int registers : {0, 256})
    CHECK_THROWS_AS(kernels::keep_busy(Stream{}, {1, 1, 0, 4, 1, registers}, &result, nullptr),
                    InputError);
}
