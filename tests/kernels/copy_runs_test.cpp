// Runs copied to other places.
#include "kernels/copy_runs.h"

#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Runs;

namespace {

template <typename T>
void check_runs(const Runs& runs, std::size_t given, Stream order) {
  const std::vector<T> x = rounded<T>(numbers(given * runs.run, 7));
  std::vector<T> y(runs.size()), expected;
  for (std::size_t t = 0; t < runs.times; ++t)
    for (std::size_t o = 0; o < runs.outer; ++o)
      for (std::size_t i = 0; i < runs.inner; ++i) {
        const std::size_t place =
            runs.first + t * runs.outer * runs.inner + o * runs.outer_step + i * runs.inner_step;
        const auto from = x.begin() + static_cast<std::ptrdiff_t>(place * runs.run);
        expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(runs.run));
      }
  kernels::copy_runs(order, runs, x.data(), y.data());
  CHECK(same_bits(y, expected));
}

template <typename T>
void check_all(Stream order) {
  for (const std::size_t run : {1, 3, 8, 64, 1000}) {
    CAPTURE(run);
    check_runs<T>({run, 2, 4, 1, 2, 0}, 8, order);   // four ranks' parts of two samples, together
    check_runs<T>({run, 4, 2, 1, 4, 0}, 8, order);   // and apart
    check_runs<T>({run, 3, 1, 4, 1, 2}, 12, order);  // the third rank's part of three samples
  }
  check_runs<T>({5, 0, 4, 1, 1, 0}, 1, order);
  // Images whose channels lie innermost, and back: 5 channels of 7 pixels, and 32 of 49.
  check_runs<T>({1, 5, 7, 1, 5, 0, 3}, 105, order);
  check_runs<T>({1, 7, 5, 1, 7, 0, 3}, 105, order);
  check_runs<T>({1, 32, 49, 1, 32, 0, 2}, 2 * 32 * 49, order);
}

}  // namespace

TEST_CASE("runs lie where they should, each as it was") {
  for (const Stream order : kOrders) {
    check_all<float>(order);
    check_all<kernels::Half>(order);
    check_all<kernels::Bfloat16>(order);
  }
}
