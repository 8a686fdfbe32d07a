#include "kernels/reductions.h"

#include "host/bias.h"
#include "host/sums.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Into;
using kernels::Matrix;

namespace {

// Each thread adds few terms, so a sum is within a few units of the sum of magnitudes.
constexpr double kSumUnits = 4;

template <typename T>
float kernel_sum(const std::vector<T>& x, Stream stream) {
  std::vector<float> workspace(kernels::sum_workspace(x.size()));
  float total = -1;
  kernels::sum(stream, x.data(), x.size(), workspace.data(), &total);
  return total;
}

template <typename T>
void check_sum(std::size_t count) {
  const auto x = rounded<T>(numbers(count, 11));
  double exact = 0;
  double magnitudes = 0;
  for (const T value : x) {
    exact += as_float(value);
    magnitudes += std::abs(as_float(value));
  }
  const float total = kernel_sum(x, Stream{});
  CHECK(std::abs(total - exact) <= kSumUnits * 0x1p-24 * magnitudes);
  for (const Stream stream : kOrders) CHECK(kernel_sum(x, stream) == total);
}

template <typename T, typename Out>
void check_columns(const Matrix& shape, Into into, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 12));
  auto sums = rounded<Out>(numbers(shape.columns, 13));
  std::vector<float> expected = floats(sums);
  host::bias_backward({shape.rows, shape.columns}, floats(x), expected,
                      into == Into::kAdd ? host::Into::kAdd : host::Into::kReplace);
  std::vector<float> workspace(kernels::column_sums_workspace(shape));
  kernels::column_sums(stream, shape, x.data(), workspace.data(), sums.data(), into);
  check_near(sums, expected, 4);
}

}  // namespace

TEST_CASE("a sum is exact to its bound, and the same in any order of threads") {
  for (const std::size_t count : kCounts) {
    check_sum<float>(count);
    check_sum<Half>(count);
    check_sum<Bfloat16>(count);
  }
  check_sum<float>(30'001);
}

TEST_CASE("sums of columns are the host's") {
  const auto into = GENERATE(Into::kReplace, Into::kAdd);
  for (const Matrix& shape : {Matrix{1, 1}, Matrix{7, 33}, Matrix{0, 3}, Matrix{300, 5},
                              Matrix{129, 70}, Matrix{1000, 2}}) {
    check_columns<float, float>(shape, into, Stream{});
    check_columns<Half, float>(shape, into, Stream{1});
    check_columns<Half, Half>(shape, into, Stream{2});
    check_columns<Bfloat16, float>(shape, into, Stream{2});
    check_columns<Bfloat16, Bfloat16>(shape, into, Stream{});
    check_columns<float, Half>(shape, into, Stream{1});
  }
  for (const Stream stream : kOrders) check_columns<float, float>({128, 33}, into, stream);
}
