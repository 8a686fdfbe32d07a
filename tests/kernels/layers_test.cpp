// Layer norm, embedding, dropout and max-pooling.
#include "base/error.h"
#include "host/dropout.h"
#include "host/embedding.h"
#include "host/layer_norm.h"
#include "host/max_pool.h"
#include "kernels/compare.h"
#include "kernels/dropout.h"
#include "kernels/embedding.h"
#include "kernels/layer_norm.h"
#include "kernels/max_pool.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Into;
using kernels::Matrix;

namespace {

struct NormInputs {
  std::vector<float> x;
  std::vector<float> gamma;
  std::vector<float> beta;
  std::vector<float> dy;
};

struct NormResults {
  explicit NormResults(const Matrix& shape)
      : y(shape.size()),
        mean(shape.rows),
        rstd(shape.rows),
        dx(shape.size()),
        dgamma(numbers(shape.columns, 31)),
        dbeta(numbers(shape.columns, 32)) {}
  std::vector<float> y;
  std::vector<float> mean;
  std::vector<float> rstd;
  std::vector<float> dx;
  std::vector<float> dgamma;
  std::vector<float> dbeta;
};

NormResults norm_on_host(const Matrix& shape, const NormInputs& in) {
  NormResults out(shape);
  const host::MatrixShape matrix{shape.rows, shape.columns};
  host::layer_norm_forward(matrix, in.x, in.gamma, in.beta, out.y, {out.mean, out.rstd});
  host::layer_norm_backward(matrix, in.x, in.gamma, in.dy, out.mean, out.rstd,
                            {out.dx, out.dgamma, out.dbeta}, host::Into::kAdd);
  return out;
}

// dγ sums x̂ that carry the rounding of the mean.
template <typename T>
void check_norm(const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 33));
  const auto dy = rounded<T>(numbers(shape.size(), 34));
  const NormInputs in{floats(x), numbers(shape.columns, 35), numbers(shape.columns, 36),
                      floats(dy)};
  const NormResults host = norm_on_host(shape, in);
  NormResults own(shape);
  std::vector<T> y(shape.size());
  kernels::layer_norm_forward(stream, shape, x.data(), in.gamma.data(), in.beta.data(),
                              host::kLayerNormEps, y.data(), own.mean.data(), own.rstd.data());
  check_near(own.mean, host.mean, 4);
  check_near(own.rstd, host.rstd, 4);
  check_near(y, host.y, 6);
  std::vector<T> dx(shape.size());
  kernels::layer_norm_backward_input(stream, shape, x.data(), in.gamma.data(), dy.data(),
                                     host.mean.data(), host.rstd.data(), dx.data());
  check_near(dx, host.dx, 6);
  std::vector<float> workspace(kernels::layer_norm_workspace(shape));
  kernels::layer_norm_backward_parameters(stream, shape, x.data(), dy.data(), host.mean.data(),
                                          host.rstd.data(), workspace.data(), own.dgamma.data(),
                                          own.dbeta.data(), Into::kAdd);
  check_near(own.dgamma, host.dgamma, 6);
  check_near(own.dbeta, host.dbeta, 6);
}

std::vector<std::int64_t> some_tokens(std::size_t count, std::size_t rows) {
  std::vector<std::int64_t> tokens(count);
  for (std::size_t t = 0; t < count; ++t) {
    tokens[t] = static_cast<std::int64_t>(random_word(37, t) % rows);
  }
  return tokens;
}

template <typename T>
void check_embedding(const Matrix& table_shape, std::size_t count, Stream stream) {
  const auto table = rounded<T>(numbers(table_shape.size(), 38));
  const auto dy = rounded<T>(numbers(count * table_shape.columns, 39));
  const std::vector<std::int64_t> tokens = some_tokens(count, table_shape.rows);
  const host::MatrixShape matrix{table_shape.rows, table_shape.columns};
  std::vector<float> expected(dy.size());
  host::embedding_forward(matrix, floats(table), tokens, expected);
  std::vector<T> y(dy.size());
  kernels::embedding_forward(stream, table_shape, table.data(), tokens.data(), count, y.data());
  CHECK(same_bits(y, rounded<T>(expected)));

  std::vector<float> dtable = numbers(table_shape.size(), 40);
  std::vector<float> host_dtable = dtable;
  host::embedding_backward(matrix, tokens, floats(dy), host_dtable, host::Into::kAdd);
  std::vector<std::int32_t> workspace(kernels::embedding_workspace(table_shape, count));
  kernels::embedding_backward(stream, table_shape, tokens.data(), count, dy.data(),
                              workspace.data(), dtable.data());
  CHECK(same_bits(dtable, host_dtable));
}

template <typename T>
void check_dropout(const kernels::Dropout& dropout, std::size_t count, Stream stream) {
  const auto x = rounded<T>(numbers(count, 41));
  std::vector<float> expected(count);
  host::apply_dropout({dropout.p, dropout.seed, dropout.stream, dropout.offset}, floats(x),
                      expected);
  std::vector<T> y(count);
  kernels::apply_dropout(stream, dropout, x.data(), y.data(), count);
  CHECK(same_bits(y, rounded<T>(expected)));
}

host::Window on_host(const kernels::Window& window) {
  const auto wide = [](int value) { return static_cast<std::size_t>(value); };
  return {wide(window.size), wide(window.stride), wide(window.padding), wide(window.dilation)};
}

host::MaxPool on_host(const kernels::MaxPool& pool) {
  const auto wide = [](int value) { return static_cast<std::size_t>(value); };
  const kernels::Image& in = pool.input;
  return {{wide(in.batch), wide(in.channels), wide(in.height), wide(in.width),
           in.channels_last ? host::ImageLayout::kChannelsLast : host::ImageLayout::kChannelsFirst},
          on_host(pool.vertical),
          on_host(pool.horizontal)};
}

template <typename T>
void check_max_pool(const kernels::MaxPool& pool, Stream stream) {
  auto x = rounded<T>(numbers(pool.input.size(), 42));
  if (x.size() > 5) x[5] = as<T>(NAN);
  const std::size_t count = pool.output().size();
  const auto dy = rounded<T>(numbers(count, 43));
  std::vector<float> expected(count);
  std::vector<std::int32_t> expected_chosen(count);
  host::max_pool_forward(on_host(pool), floats(x), expected, expected_chosen);
  std::vector<T> y(count);
  std::vector<std::int32_t> chosen(count);
  kernels::max_pool_forward(stream, pool, x.data(), y.data(), chosen.data());
  CHECK(same_bits(y, rounded<T>(expected)));
  CHECK(chosen == expected_chosen);

  std::vector<float> expected_dx(x.size());
  host::max_pool_backward(on_host(pool), floats(dy), chosen, expected_dx);
  std::vector<T> dx(x.size());
  kernels::max_pool_backward(stream, pool, dy.data(), chosen.data(), dx.data());
  CHECK(floats(dx) == as_read<T>(expected_dx));
}

}  // namespace

TEST_CASE("layer norm is the host's, forward and backward") {
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{3, 7}, Matrix{70, 33}, Matrix{5, 768}, Matrix{2, 1500}}) {
    check_norm<float>(shape, Stream{});
    check_norm<Half>(shape, Stream{1});
    check_norm<Bfloat16>(shape, Stream{2});
  }
}

TEST_CASE("layer norm of rows far from 0 keeps their differences") {
  const Matrix shape{4, 65};
  std::vector<float> x = numbers(shape.size(), 44);
  for (float& value : x) value += 1000;
  const std::vector<float> gamma(65, 1.0F);
  const std::vector<float> beta(65, 0.0F);
  NormResults host(shape);
  host::layer_norm_forward({4, 65}, x, gamma, beta, host.y, {host.mean, host.rstd});
  NormResults own(shape);
  kernels::layer_norm_forward(Stream{}, shape, x.data(), gamma.data(), beta.data(),
                              host::kLayerNormEps, own.y.data(), own.mean.data(), own.rstd.data());
  // A unit in the last place of 1000 is 2^-14: the mean's rounding.
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(own.y[i] - host.y[i]) <= 0x1p-13);
}

TEST_CASE("embedding is the host's to the bit, forward and backward") {
  for (const Stream stream : kOrders) {
    check_embedding<float>({1, 1}, 1, stream);
    check_embedding<float>({7, 130}, 150, stream);
    check_embedding<Half>({50, 24}, 41, stream);
    check_embedding<Bfloat16>({3, 5}, 9, stream);
  }
}

TEST_CASE("embedding's gradient of tokens that come often, of wide rows and of a large table") {
  for (const Stream stream : kOrders) {
    check_embedding<float>({2, 12}, 1500, stream);
    check_embedding<Half>({5, 1032}, 60, stream);
    check_embedding<Bfloat16>({3, 71}, 300, stream);
    check_embedding<float>({1, 260}, 17, stream);
    check_embedding<float>({3000, 4}, 700, stream);
  }
}

TEST_CASE("a token that is no row stops the kernel") {
  const std::vector<std::int64_t> tokens = {0, 2};
  const std::vector<float> table(6);
  std::vector<float> y(6);
  CHECK_THROWS_AS(
      kernels::embedding_forward(Stream{}, {2, 3}, table.data(), tokens.data(), 2, y.data()),
      Error);
  std::vector<float> dtable(6);
  std::vector<std::int32_t> workspace(kernels::embedding_workspace({2, 3}, 2));
  CHECK_THROWS_AS(kernels::embedding_backward(Stream{}, {2, 3}, tokens.data(), 2, y.data(),
                                              workspace.data(), dtable.data()),
                  Error);
}

TEST_CASE("dropout keeps and drops what the host does, to the bit") {
  for (const std::size_t count : kCounts) {
    for (const std::uint64_t offset : {0, 1, 4, 6}) {
      check_dropout<float>({0.3F, 7, 2, offset}, count, Stream{offset});
      check_dropout<Half>({0.1F, 8, 0, offset}, count, Stream{});
      check_dropout<Bfloat16>({0.5F, 9, 1, offset}, count, Stream{});
    }
  }
  check_dropout<float>({0, 1, 0, 0}, 9, Stream{});
  check_dropout<Half>({0.7F, 3, 4, 12}, 5001, Stream{1});
  check_dropout<float>({0x1p-24F, 3, 4, 12}, 5001, Stream{2});
  check_dropout<Half>({1, 1, 0, 4}, 40, Stream{});
  check_dropout<float>({1, 1, 0, 0}, 9, Stream{});
  check_dropout<float>({0.5F, 1, 0, 0xffffffff0ULL}, 30, Stream{});
}

TEST_CASE("dropout's share is met exactly by the words beside it") {
  for (const std::uint64_t index : {0, 1, 2, 3, 100}) {
    const float drawn = unit_float(random_word(5, index, 6));
    for (const float p : {drawn, std::nextafter(drawn, 0.0F), std::nextafter(drawn, 1.0F)})
      check_dropout<float>({p, 5, 6, 0}, 101, Stream{});
  }
}

TEST_CASE("max-pooling is the host's to the bit, forward and backward") {
  const bool channels_last = GENERATE(false, true);
  for (const kernels::MaxPool& pool : {
           kernels::MaxPool{{1, 1, 1, 1, channels_last}, {}, {}},
           kernels::MaxPool{{2, 3, 8, 9, channels_last}, {2, 2}, {2, 2}},
           kernels::MaxPool{{1, 5, 11, 7, channels_last}, {3, 2, 1}, {3, 1, 1}},
           kernels::MaxPool{{2, 2, 9, 10, channels_last}, {3, 2, 1, 2}, {2, 3, 0, 3}},
           kernels::MaxPool{{2, 8, 8, 6, channels_last}, {2, 2}, {2, 2}},
           kernels::MaxPool{{2, 16, 9, 8, channels_last}, {3, 2, 1}, {3, 2, 1}},
           kernels::MaxPool{{1, 16, 5, 4, channels_last}, {2, 1, 1}, {2, 2, 1}},
           kernels::MaxPool{{1, 8, 1, 9, channels_last}, {3, 1, 1}, {3, 4, 1}},
           kernels::MaxPool{{1, 8, 13, 12, channels_last}, {5, 2, 2}, {4, 5, 0, 2}},
       }) {
    check_max_pool<float>(pool, Stream{});
    check_max_pool<Half>(pool, Stream{1});
    check_max_pool<Bfloat16>(pool, Stream{2});
  }
}

TEST_CASE("max-pooling of images that are not aligned is the same") {
  const kernels::MaxPool pool{{1, 8, 5, 4, true}, {3, 2, 1}, {3, 2, 1}};
  const std::size_t count = pool.output().size();
  const auto x = numbers(pool.input.size() + 1, 45), dy = numbers(count + 1, 46);
  std::vector<float> y(count), want(count), dx(pool.input.size() + 1), want_dx(pool.input.size());
  std::vector<std::int32_t> chosen(count + 1), want_chosen(count);
  const std::vector<float> moved_x(x.begin() + 1, x.end()), moved_dy(dy.begin() + 1, dy.end());
  kernels::max_pool_forward(Stream{}, pool, moved_x.data(), want.data(), want_chosen.data());
  kernels::max_pool_forward(Stream{}, pool, x.data() + 1, y.data(), chosen.data() + 1);
  CHECK(y == want);
  CHECK(std::equal(want_chosen.begin(), want_chosen.end(), chosen.begin() + 1));
  kernels::max_pool_backward(Stream{}, pool, moved_dy.data(), want_chosen.data(), want_dx.data());
  kernels::max_pool_backward(Stream{}, pool, dy.data() + 1, chosen.data() + 1, dx.data() + 1);
  CHECK(std::equal(want_dx.begin(), want_dx.end(), dx.begin() + 1));
}

TEST_CASE("a window with equal values, infinities and NaNs at its edges chooses as the host does") {
  for (const bool channels_last : {false, true}) {
    const kernels::MaxPool pool{{1, 8, 6, 6, channels_last}, {3, 2, 1}, {3, 2, 1}};
    std::vector<float> x(pool.input.size());
    constexpr float kSpecial[] = {NAN, -INFINITY, INFINITY, 0, -0.0F, 1};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = kSpecial[random_word(47, i) % 6];
    const std::size_t count = pool.output().size();
    std::vector<float> y(count), want(count);
    std::vector<std::int32_t> chosen(count), want_chosen(count);
    host::max_pool_forward(on_host(pool), x, want, want_chosen);
    kernels::max_pool_forward(Stream{1}, pool, x.data(), y.data(), chosen.data());
    CHECK(chosen == want_chosen);
    CHECK(same_bits(y, want));
  }
}
