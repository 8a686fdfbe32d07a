// Chains with norms beside the kernels one by one, to the bit, and beside the host's operations.

#include "kernels/norm_chain.h"

#include "host/layer_norm.h"
#include "kernels/activation.h"
#include "kernels/chain_support.h"
#include "kernels/elementwise.h"
#include "kernels/emulator/grid.h"
#include "kernels/layer_norm.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::ChainNorm;
using kernels::Matrix;
using kernels::NormChain;
using kernels::NormKind;

namespace {

constexpr float kEps = 1e-5F;

// A norm after the steps that the chain has, of type T.
template <typename T>
ChainNorm& norm(NormChain& all, NormKind kind, std::uint8_t x, std::uint8_t dy) {
  ChainNorm& one = all.norms[all.norm_count];
  one.kind = kind;
  one.type = all.type = number_of<T>();
  one.x = x;
  one.dy = dy;
  one.before = all.chain.step_count;
  one.eps = kEps;
  one.result = static_cast<std::uint8_t>(kernels::kChainRegisters - 1 - all.norm_count++);
  return one;
}

NormChain of_rows(const Matrix& shape) {
  NormChain all;
  all.rows = shape;
  all.chain.values = shape.size();
  return all;
}

template <typename T>
std::vector<T> sum_of(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> sum(a.size());
  kernels::add(Stream{}, a.data(), b.data(), sum.data(), a.size());
  return sum;
}

template <typename T>
std::vector<T> relu_of(const std::vector<T>& x) {
  std::vector<T> y(x.size());
  const T* none = nullptr;
  kernels::bias_activation_forward(Stream{}, kernels::Activation::kRelu, {1, x.size()}, x.data(),
                                   none, y.data());
  return y;
}

// relu(norm(a + b)), and the sum left as well.
template <typename T>
void check_rows(const Matrix& shape, Stream stream) {
  const auto a = rounded<T>(numbers(shape.size(), 1)), b = rounded<T>(numbers(shape.size(), 2));
  const auto gamma = numbers(shape.columns, 3), beta = numbers(shape.columns, 4);
  std::vector<T> y(shape.size()), sum(shape.size()), want(shape.size());
  std::vector<float> mean(shape.rows), rstd(shape.rows), want_mean(shape.rows),
      want_rstd(shape.rows), on_host(shape.size());
  NormChain all = of_rows(shape);
  const auto of_a = read(all.chain, a), of_b = read(all.chain, b);
  const auto added = step<T>(all.chain, ChainAction::kAdd, of_a, of_b);
  ChainNorm& one = norm<T>(all, NormKind::kForward, added, added);
  one.gamma = gamma.data();
  one.beta = beta.data();
  one.mean = mean.data();
  one.rstd = rstd.data();
  write(all.chain, y, step<T>(all.chain, ChainAction::kRelu, one.result, one.result));
  write(all.chain, sum, added);
  kernels::run_norm_chain(stream, all);

  const auto x = sum_of(a, b);
  kernels::layer_norm_forward(stream, shape, x.data(), gamma.data(), beta.data(), kEps, want.data(),
                              want_mean.data(), want_rstd.data());
  CHECK(same_bits(sum, x));
  CHECK(same_bits(y, relu_of(want)));
  CHECK(same_bits(mean, want_mean));
  CHECK(same_bits(rstd, want_rstd));
  host::layer_norm_forward({shape.rows, shape.columns}, floats(x), gamma, beta, on_host,
                           {want_mean, want_rstd});
  check_near(y, relu_of(on_host), 6);
}

// norm's gradient of a + b, and a added to it.
template <typename T>
void check_rows_gradient(const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 5)), a = rounded<T>(numbers(shape.size(), 6)),
             b = rounded<T>(numbers(shape.size(), 7));
  const auto gamma = numbers(shape.columns, 8);
  std::vector<float> mean(shape.rows), rstd(shape.rows), on_host(shape.size()), rest(shape.columns),
      unused(shape.size());
  host::layer_norm_forward({shape.rows, shape.columns}, floats(x), gamma, gamma, unused,
                           {mean, rstd});
  std::vector<T> dx(shape.size()), want(shape.size());
  NormChain all = of_rows(shape);
  const auto of_x = read(all.chain, x), of_a = read(all.chain, a), of_b = read(all.chain, b);
  const auto dy = step<T>(all.chain, ChainAction::kAdd, of_a, of_b);
  ChainNorm& one = norm<T>(all, NormKind::kInputGradient, of_x, dy);
  one.gamma = gamma.data();
  one.mean = mean.data();
  one.rstd = rstd.data();
  write(all.chain, dx, step<T>(all.chain, ChainAction::kAdd, one.result, of_a));
  kernels::run_norm_chain(stream, all);

  const auto sum = sum_of(a, b);
  kernels::layer_norm_backward_input(stream, shape, x.data(), gamma.data(), sum.data(), mean.data(),
                                     rstd.data(), want.data());
  CHECK(same_bits(dx, sum_of(want, a)));
  auto also = rest;
  host::layer_norm_backward({shape.rows, shape.columns}, floats(x), gamma, floats(sum), mean, rstd,
                            {on_host, rest, also}, host::Into::kReplace);
  if constexpr (std::is_same_v<T, float>) check_near(dx, sum_of(on_host, a), 6);
}

// norm(norm(a) + b).
template <typename T>
void check_two_norms(const Matrix& shape, Stream stream) {
  const auto a = rounded<T>(numbers(shape.size(), 9)), b = rounded<T>(numbers(shape.size(), 10));
  const auto gamma = numbers(shape.columns, 11), beta = numbers(shape.columns, 12);
  std::vector<T> y(shape.size()), first(shape.size()), want(shape.size());
  std::vector<float> rstd(shape.rows), mean(shape.rows), want_rstd(shape.rows);
  NormChain all = of_rows(shape);
  const auto of_a = read(all.chain, a), of_b = read(all.chain, b);
  const auto with_numbers = [&](ChainNorm& one) -> ChainNorm& {
    one.gamma = gamma.data();
    one.beta = beta.data();
    return one;
  };
  const auto inner = with_numbers(norm<T>(all, NormKind::kForward, of_a, of_a)).result;
  const auto added = step<T>(all.chain, ChainAction::kAdd, inner, of_b);
  ChainNorm& outer = with_numbers(norm<T>(all, NormKind::kForward, added, added));
  outer.rstd = rstd.data();
  write(all.chain, y, outer.result);
  kernels::run_norm_chain(stream, all);

  const auto one_by_one = [&](const std::vector<T>& x, std::vector<T>& result) {
    kernels::layer_norm_forward(stream, shape, x.data(), gamma.data(), beta.data(), kEps,
                                result.data(), mean.data(), want_rstd.data());
  };
  one_by_one(a, first);
  one_by_one(sum_of(first, b), want);
  CHECK(same_bits(y, want));
  CHECK(same_bits(rstd, want_rstd));
}

template <typename T>
void check_all(const Matrix& shape, Stream stream) {
  check_rows<T>(shape, stream);
  check_rows_gradient<T>(shape, stream);
  check_two_norms<T>(shape, stream);
}

}  // namespace

TEST_CASE("layer norms in a chain give the bits of the kernels one by one, and the host's") {
  for (const Matrix& shape : {Matrix{1, 1}, Matrix{3, 7}, Matrix{7, 64}, Matrix{2, 1001}}) {
    check_all<float>(shape, Stream{});
    check_all<Half>(shape, Stream{1});
    check_all<Bfloat16>(shape, Stream{2});
  }
  for (const Stream stream : kOrders) check_all<float>({5, 130}, stream);
}

TEST_CASE("a chain with a norm of no rows does nothing") {
  const std::uint64_t before = emulator::grids_run();
  kernels::run_norm_chain(Stream{}, of_rows({0, 5}));
  CHECK(emulator::grids_run() == before);
  kernels::run_norm_chain(Stream{}, of_rows({1, 5}));
  CHECK(emulator::grids_run() == before + 1);
}
