// A chain in one kernel beside its steps one by one, which other tests hold against the host.

#include "kernels/chain.h"

#include "base/error.h"
#include "kernels/activation.h"
#include "kernels/average_pool.h"
#include "kernels/chain_support.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/max_pool.h"
#include "kernels/number.h"
#include "kernels/positions.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

// gelu(relu(a + b) · 0.5 · s), and beside it the slope of the ReLU times b; all of type T.
template <typename T>
void check_chain(std::size_t count, Stream stream) {
  const auto a = rounded<T>(numbers(count, 1)), b = rounded<T>(numbers(count, 2));
  const std::vector<float> number{1.75F};
  std::vector<T> y(count), slope(count), sum(count), kept(count), scaled(count), want(count),
      want_slope(count);
  Chain chain;
  chain.values = count;
  const auto of_a = read(chain, a), of_b = read(chain, b);
  const auto of_number = read(chain, number, ChainFrom::kSingle);
  const auto added = step<T>(chain, ChainAction::kAdd, of_a, of_b);
  const auto positive = step<T>(chain, ChainAction::kRelu, added, added);
  const auto times = step<T>(chain, ChainAction::kScaleBy, positive, of_number, 0.5F);
  write(chain, y, step<T>(chain, ChainAction::kGeluErf, times, times));
  write(chain, slope, step<T>(chain, ChainAction::kReluSlope, positive, of_b));
  kernels::run_chain(stream, chain);

  const T* none = nullptr;
  const kernels::Matrix row{1, count};
  using kernels::Activation;
  kernels::add(stream, a.data(), b.data(), sum.data(), count);
  kernels::bias_activation_forward(stream, Activation::kRelu, row, sum.data(), none, kept.data());
  kernels::scale_by(stream, kept.data(), 0.5F, number.data(), scaled.data(), count);
  kernels::bias_activation_forward(stream, Activation::kGeluErf, row, scaled.data(), none,
                                   want.data());
  kernels::bias_activation_backward(stream, Activation::kRelu, row, kept.data(), none, b.data(),
                                    want_slope.data());
  CHECK(same_bits(y, want));
  CHECK(same_bits(slope, want_slope));
}

// dropout(table[tokens] + positions), of sequences of two.
template <typename T>
void check_embedded(std::size_t tokens, std::size_t width, Stream stream) {
  const kernels::Matrix table_shape{5, width}, sequences{tokens / 2, 2 * width};
  const auto table = rounded<T>(numbers(table_shape.size(), 3));
  const auto positions = rounded<T>(numbers(3 * width, 4));
  std::vector<std::int64_t> index(tokens);
  for (std::size_t t = 0; t < tokens; ++t) index[t] = static_cast<std::int64_t>(t * 3 % 5);
  const std::size_t count = tokens * width;
  std::vector<T> y(count), want(count);
  Chain chain;
  chain.values = count;
  chain.drops[chain.drop_count++] = {0.3F, 7, 1, 5};
  const auto row = read(chain, table, ChainFrom::kRowOf, width, index.data());
  const auto place = read(chain, positions, ChainFrom::kRepeated, 2 * width);
  const auto added = step<T>(chain, ChainAction::kAdd, row, place);
  write(chain, y, step<T>(chain, ChainAction::kDrop, added, 0, kernels::scale_of(chain.drops[0])));
  kernels::run_chain(stream, chain);

  kernels::embedding_forward(stream, table_shape, table.data(), index.data(), tokens, want.data());
  kernels::add_positions(stream, sequences, want.data(), positions.data(), want.data());
  kernels::apply_dropout(stream, chain.drops[0], want.data(), want.data(), count);
  CHECK(same_bits(y, want));
}

// ReLU's slope of what both kinds of pooling hand back.
template <typename T>
void check_pooled(const kernels::MaxPool& pool, Stream stream) {
  const std::size_t count = pool.input.size(), outputs = pool.output().size();
  const auto planes = static_cast<std::size_t>(pool.input.batch * pool.input.channels);
  const auto x = rounded<T>(numbers(count, 5)), dy = rounded<T>(numbers(outputs, 6));
  const auto dmean = rounded<T>(numbers(planes, 7));
  std::vector<T> pooled(outputs), dx(count), mean_dx(count), want(count), want_mean(count);
  std::vector<std::int32_t> chosen(outputs);
  kernels::max_pool_forward(stream, pool, x.data(), pooled.data(), chosen.data());
  Chain chain;
  chain.values = count;
  chain.pool = pool;
  const auto of_x = read(chain, x);
  const auto of_max = read(chain, dy, ChainFrom::kMaxPool, 0, chosen.data());
  const auto of_mean = read(chain, dmean, ChainFrom::kAveragePool);
  const auto largest = step<T>(chain, ChainAction::kMove, of_max, of_max);
  const auto mean = step<T>(chain, ChainAction::kMove, of_mean, of_mean);
  write(chain, dx, step<T>(chain, ChainAction::kReluSlope, of_x, largest));
  write(chain, mean_dx, step<T>(chain, ChainAction::kReluSlope, of_x, mean));
  kernels::run_chain(stream, chain);

  const auto slope = [&](std::vector<T>& d) {
    const T* none = nullptr;
    kernels::bias_activation_backward(stream, kernels::Activation::kRelu, {1, count}, x.data(),
                                      none, d.data(), d.data());
  };
  kernels::max_pool_backward(stream, pool, dy.data(), chosen.data(), want.data());
  kernels::average_pool_backward(stream, pool.input, dmean.data(), want_mean.data());
  slope(want);
  slope(want_mean);
  CHECK(same_bits(dx, want));
  CHECK(same_bits(mean_dx, want_mean));
}

}  // namespace

TEST_CASE("a chain of steps gives the bits of its steps one by one, in every type and order") {
  for (const Stream stream : kOrders)
    for (const std::size_t count : {1, 31, 257, 1000}) {
      check_chain<float>(count, stream);
      check_chain<kernels::Half>(count, stream);
      check_chain<kernels::Bfloat16>(count, stream);
    }
}

TEST_CASE("a chain may work in place, change types, and do nothing to no values") {
  std::vector<float> x{1, -2, 3};
  std::vector<kernels::Half> half(3);
  Chain chain;
  chain.values = 3;
  const auto twice = step<float>(chain, ChainAction::kScale, read(chain, x), 0, 2);
  write(chain, x, twice);
  write(chain, half, twice);
  kernels::run_chain(Stream{}, chain);
  CHECK(x == std::vector<float>{2, -4, 6});
  CHECK(floats(half) == x);
  chain.values = 0;
  kernels::run_chain(Stream{}, chain);
  CHECK(x == std::vector<float>{2, -4, 6});
}

TEST_CASE("a chain's arrays may begin anywhere") {
  constexpr std::size_t kCount = 1027;
  const auto a = numbers(kCount + 1, 1);
  const auto b = rounded<kernels::Half>(numbers(kCount + 3, 2));
  std::vector<float> y(kCount + 2, -1);
  Chain chain;
  chain.values = kCount;
  const auto of_a = read(chain, a), of_b = read(chain, b);
  const auto sum = step<float>(chain, ChainAction::kAdd, of_a, of_b);
  write(chain, y, step<float>(chain, ChainAction::kScale, sum, sum, 0.5F));
  chain.reads[0].memory = a.data() + 1;
  chain.reads[1].memory = b.data() + 3;
  chain.writes[0].memory = y.data() + 1;
  kernels::run_chain(Stream{}, chain);
  const auto wide = floats(b);
  for (std::size_t i = 0; i < kCount; ++i) REQUIRE(y[i + 1] == 0.5F * (a[i + 1] + wide[i + 3]));
  CHECK(y.front() == -1);
  CHECK(y.back() == -1);
}

TEST_CASE("a chain reads rows of a table, positions and draws where its values have them") {
  for (const Stream stream : kOrders)
    for (const std::size_t width : {1, 7, 64}) {
      check_embedded<float>(6, width, stream);
      check_embedded<kernels::Half>(2, width, stream);
      check_embedded<kernels::Bfloat16>(4, width, stream);
    }
}

TEST_CASE("a token that is no row of the table stops a chain") {
  const std::vector<float> table{1, 2};
  std::vector<float> y(1);
  const std::int64_t token = 2;
  Chain chain;
  chain.values = 1;
  write(chain, y, read(chain, table, ChainFrom::kRowOf, 1, &token));
  CHECK_THROWS_AS(kernels::run_chain(Stream{}, chain), Error);
}

TEST_CASE("a chain takes the gradients of what was pooled, in either layout") {
  for (const Stream stream : kOrders)
    for (const bool last : {false, true}) {
      check_pooled<float>({{1, 1, 1, 1, last}, {}, {}}, stream);
      check_pooled<float>({{1, 3, 5, 7, last}, {3, 2, 1}, {3, 1, 1}}, stream);
      check_pooled<kernels::Half>({{2, 3, 4, 5, last}, {2, 2}, {2, 2}}, stream);
      check_pooled<kernels::Bfloat16>({{2, 2, 5, 4, last}, {2, 2}, {2, 2}}, stream);
    }
}
