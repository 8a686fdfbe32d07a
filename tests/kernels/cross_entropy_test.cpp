#include "kernels/cross_entropy.h"

#include "host/cross_entropy.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Matrix;

namespace {

struct Outcome {
  float loss = 0;
  std::vector<float> gradient;
};

Outcome on_host(const Matrix& shape, std::vector<float> logits,
                const std::vector<std::int64_t>& targets, float dloss) {
  std::vector<float> statistics(2 * shape.rows);
  const host::MatrixShape host_shape{shape.rows, shape.columns};
  const float loss = host::cross_entropy_forward(host_shape, logits, targets, statistics);
  host::cross_entropy_backward(host_shape, logits, targets, statistics, dloss);
  return {loss, logits};
}

template <typename T>
float run_kernel(const Matrix& shape, std::vector<T>& logits,
                 const std::vector<std::int64_t>& targets, const float* dloss, Stream stream) {
  std::vector<float> workspace(kernels::cross_entropy_workspace(shape));
  float loss = -1;
  kernels::cross_entropy(stream, shape, logits.data(), targets.data(), dloss, workspace.data(),
                         &loss);
  return loss;
}

// A gradient is at most dloss / rows, and that is what it is measured against.
template <typename T>
void check(const Matrix& shape, float dloss, Stream stream) {
  auto logits = rounded<T>(numbers(shape.size(), 21, 3));
  std::vector<std::int64_t> targets(shape.rows);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    targets[r] =
        r % 5 == 3 ? kernels::kIgnoredTarget : static_cast<std::int64_t>(r * 7 % shape.columns);
  }
  const Outcome host = on_host(shape, floats(logits), targets, dloss);
  const float loss = run_kernel(shape, logits, targets, &dloss, stream);
  CHECK(std::abs(loss - host.loss) <= 4 * 0x1p-23 * std::abs(host.loss));
  const double most = static_cast<double>(dloss) / static_cast<double>(shape.rows);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double size = std::max<double>(most, std::abs(host.gradient[i]));
    CHECK(std::abs(as_float(logits[i]) - host.gradient[i]) <=
          (8 * 0x1p-24 + (sizeof(T) < 4 ? kRounding<T> : 0)) * size);
  }
}

}  // namespace

TEST_CASE("softmax cross-entropy and its gradient in place are the host's") {
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{3, 10}, Matrix{7, 33}, Matrix{5, 1000}, Matrix{260, 8},
        Matrix{2100, 3}, Matrix{5, 2049}, Matrix{3, 9001}, Matrix{2, 50257}}) {
    check<float>(shape, 1, Stream{});
    check<Half>(shape, 1024, Stream{1});
    check<Bfloat16>(shape, 65536, Stream{2});
  }
}

TEST_CASE("rows that are ignored, all of them too, count nowhere") {
  const std::vector<std::int64_t> ignored(2, kernels::kIgnoredTarget);
  std::vector<float> logits = numbers(6, 22);
  CHECK(std::isnan(run_kernel({2, 3}, logits, ignored, nullptr, Stream{})));
  CHECK(logits == std::vector<float>(6, 0.0F));
}

TEST_CASE("a loss of infinite or missing logits is not a number") {
  const std::vector<std::int64_t> targets = {0, 1};
  for (const float bad : {NAN, INFINITY}) {
    std::vector<float> logits = {1, 2, bad, 4};
    CHECK(std::isnan(run_kernel({2, 2}, logits, targets, nullptr, Stream{})));
  }
}

TEST_CASE("logits of minus infinity have no share, in narrow and in wide rows") {
  for (const std::size_t columns : {40, 4100}) {
    const Matrix shape{2, columns};
    std::vector<float> logits = numbers(shape.size(), 23);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (i % columns < columns / 2 || i % 3 == 0) logits[i] = -INFINITY;
    }
    const std::vector<std::int64_t> targets(2, static_cast<std::int64_t>(columns / 2 + 1));
    for (std::size_t r = 0; r < 2; ++r) logits[r * columns + columns / 2 + 1] = 1;
    const Outcome host = on_host(shape, logits, targets, 1);
    CHECK(run_kernel(shape, logits, targets, nullptr, Stream{1}) == Approx(host.loss));
    check_near(logits, host.gradient, 8);
  }
}

TEST_CASE("a target that is no class stops the kernel") {
  const std::vector<std::int64_t> targets = {0, 3};
  std::vector<float> logits(6);
  CHECK_THROWS_WITH(
      run_kernel({2, 3}, logits, targets, nullptr, Stream{}),
      Catch::Contains("kernel cross_entropy") && Catch::Contains("thread (32, 0, 0)"));
}
