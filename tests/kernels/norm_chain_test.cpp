// Chains with norms beside the kernels one by one, to the bit, and beside the host's operations.

#include "kernels/norm_chain.h"

#include "host/batch_norm.h"
#include "host/layer_norm.h"
#include "kernels/activation.h"
#include "kernels/cast.h"
#include "kernels/chain_support.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::ChainNorm;
using kernels::Image;
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
  one.type = all.rows_type = number_of<T>();
  one.x = x;
  one.dy = dy;
  one.before = all.chain.step_count;
  one.eps = kEps;
  one.result = static_cast<std::uint8_t>(kernels::kChainRegisters - 1 - all.norm_count++);
  return one;
}

NormChain of_rows(const Matrix& shape) {
  NormChain all;
  all.of_rows = true;
  all.rows = shape;
  all.chain.values = shape.size();
  return all;
}

NormChain of_channels(const Image& shape) {
  NormChain all;
  all.image = shape;
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

// dy where x is above 0.
template <typename T>
std::vector<T> slope_of(const std::vector<T>& x, const std::vector<T>& dy) {
  std::vector<T> dx(x.size());
  const T* none = nullptr;
  kernels::bias_activation_backward(Stream{}, kernels::Activation::kRelu, {1, x.size()}, x.data(),
                                    none, dy.data(), dx.data());
  return dx;
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
  ChainNorm& one = norm<T>(all, NormKind::kRows, added, added);
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
  ChainNorm& one = norm<T>(all, NormKind::kRowsGradient, of_x, dy);
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

host::ImageShape on_host(const Image& image) {
  return {
      static_cast<std::size_t>(image.batch), static_cast<std::size_t>(image.channels),
      static_cast<std::size_t>(image.height), static_cast<std::size_t>(image.width),
      image.channels_last ? host::ImageLayout::kChannelsLast : host::ImageLayout::kChannelsFirst};
}

std::vector<float> trained_on_host(const Image& shape, const std::vector<float>& a,
                                   const std::vector<float>& b, const std::vector<float>& gamma,
                                   const std::vector<float>& beta) {
  std::vector<float> y(a.size()), mean(gamma.size()), rstd(gamma.size()),
      running_mean(gamma.size()), running_variance(gamma.size());
  host::batch_norm_train(on_host(shape), a, gamma, beta, y, {mean, rstd},
                         {running_mean, running_variance});
  return relu_of(sum_of(y, b));
}

// relu(norm(a) + b), training or by the running moments.
template <typename T>
void check_channels(const Image& shape, bool training, Stream stream) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto a = rounded<T>(numbers(shape.size(), 1)), b = rounded<T>(numbers(shape.size(), 2));
  const auto gamma = numbers(channels, 3), beta = numbers(channels, 4);
  std::vector<float> mean(channels), rstd(channels), running_mean(channels, 0.5F),
      running_variance(channels, 2.0F), want_mean(channels), want_rstd(channels);
  auto want_running_mean = running_mean, want_running_variance = running_variance;
  std::vector<T> y(shape.size()), want(shape.size());
  NormChain all = of_channels(shape);
  const auto of_a = read(all.chain, a), of_b = read(all.chain, b);
  ChainNorm& one =
      norm<T>(all, training ? NormKind::kChannels : NormKind::kChannelsKept, of_a, of_a);
  one.gamma = gamma.data();
  one.beta = beta.data();
  one.mean = mean.data();
  one.rstd = rstd.data();
  one.running.mean = running_mean.data();
  one.running.variance = running_variance.data();
  const auto added = step<T>(all.chain, ChainAction::kAdd, one.result, of_b);
  write(all.chain, y, step<T>(all.chain, ChainAction::kRelu, added, added));
  kernels::run_norm_chain(stream, all);

  const auto run = training ? kernels::batch_norm_train<T> : kernels::batch_norm_evaluate<T>;
  run(stream, shape, a.data(), gamma.data(), beta.data(), kEps, want.data(),
      {want_mean.data(), want_rstd.data()},
      {want_running_mean.data(), want_running_variance.data()});
  CHECK(same_bits(y, relu_of(sum_of(want, b))));
  CHECK(same_bits(mean, want_mean));
  CHECK(same_bits(rstd, want_rstd));
  CHECK(same_bits(running_mean, want_running_mean));
  CHECK(same_bits(running_variance, want_running_variance));
  if constexpr (std::is_same_v<T, float>)
    if (training) check_near(y, trained_on_host(shape, a, b, gamma, beta), 16);
}

// Two norms' gradients of the same dy, which is relu's: the shortcut of a residual block.
template <typename T>
void check_channels_gradients(const Image& shape, Stream stream) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto kept = rounded<T>(numbers(shape.size(), 5)), dy = rounded<T>(numbers(shape.size(), 6));
  const std::vector<T> xs[] = {rounded<T>(numbers(shape.size(), 7)),
                               rounded<T>(numbers(shape.size(), 8))};
  const auto gamma = numbers(channels, 9), mean = numbers(channels, 10, 0.1F);
  std::vector<float> rstd(channels, 1.25F);
  std::vector<T> results[2] = {std::vector<T>(shape.size()), std::vector<T>(shape.size())};
  std::vector<float> dgamma[2] = {rstd, rstd}, dbeta(channels);
  NormChain all = of_channels(shape);
  const auto of_kept = read(all.chain, kept), of_dy = read(all.chain, dy);
  const std::uint8_t of_x[] = {read(all.chain, xs[0]), read(all.chain, xs[1])};
  const auto slope = step<T>(all.chain, ChainAction::kReluSlope, of_kept, of_dy);
  for (std::size_t i = 0; i < 2; ++i) {
    ChainNorm& one = norm<T>(all, NormKind::kChannelsGradient, of_x[i], slope);
    one.gamma = gamma.data();
    one.mean = const_cast<float*>(mean.data());
    one.rstd = rstd.data();
    one.dgamma = dgamma[i].data();
    if (i == 1) one.dbeta = dbeta.data();  // of the first none is left
    write(all.chain, results[i], one.result);
  }
  kernels::run_norm_chain(stream, all);

  const auto dslope = slope_of(kept, dy);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<T> want(shape.size());
    std::vector<float> want_dgamma(channels), want_dbeta(channels);
    kernels::batch_norm_backward(stream, shape, xs[i].data(), gamma.data(), dslope.data(),
                                 {const_cast<float*>(mean.data()), rstd.data()}, want.data(),
                                 want_dgamma.data(), want_dbeta.data());
    CHECK(same_bits(results[i], want));
    CHECK(same_bits(dgamma[i], want_dgamma));
    CHECK(same_bits(dbeta, want_dbeta));
    std::vector<float> dx(shape.size());
    host::batch_norm_backward(host::Mode::kTrain, on_host(shape), floats(xs[i]), gamma,
                              floats(dslope), mean, rstd, {dx, want_dgamma, want_dbeta},
                              host::Into::kReplace);
    check_near(results[i], dx, 16);
  }
}

template <typename T>
void check_all(const Matrix& shape, Stream stream) {
  check_rows<T>(shape, stream);
  check_rows_gradient<T>(shape, stream);
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

TEST_CASE("batch norms in a chain give the bits of the kernels one by one, and the host's") {
  for (const bool last : {false, true})
    for (const Image& shape : {Image{2, 3, 4, 5, last}, Image{2, 1, 1, 1, last}}) {
      check_channels<float>(shape, true, Stream{});
      check_channels<float>(shape, false, Stream{1});
      check_channels_gradients<float>(shape, Stream{2});
    }
  const Image large{3, 2, 11, 13, false};
  for (const Stream stream : kOrders) check_channels_gradients<float>(large, stream);
  check_channels<Half>(large, true, Stream{1});
  check_channels<Bfloat16>(large, true, Stream{2});
  check_channels_gradients<Half>(large, Stream{1});
  check_channels_gradients<Bfloat16>(large, Stream{2});
}

TEST_CASE("a chain with a norm of no rows does nothing") {
  kernels::run_norm_chain(Stream{}, of_rows({0, 5}));
}
