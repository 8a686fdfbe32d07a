// A chain in one kernel beside its steps one by one, which other tests hold against the host.

#include "kernels/chain.h"

#include "kernels/activation.h"
#include "kernels/cast.h"
#include "kernels/compare.h"
#include "kernels/elementwise.h"
#include "kernels/number.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Chain;
using kernels::ChainAction;
using kernels::NumberType;

namespace {

template <typename T>
constexpr NumberType number_of() {
  if constexpr (std::is_same_v<T, kernels::Half>) return NumberType::kFp16;
  if constexpr (std::is_same_v<T, kernels::Bfloat16>) return NumberType::kBf16;
  return NumberType::kFp32;
}

// gelu(relu(a + b) · 0.5 · s), and beside it the slope of the ReLU times b; all of type T.
template <typename T>
void check_chain(std::size_t count, Stream stream) {
  const auto a = rounded<T>(numbers(count, 1)), b = rounded<T>(numbers(count, 2));
  const float number = 1.75F;
  std::vector<T> y(count), slope(count), sum(count), kept(count), scaled(count), want(count),
      want_slope(count);
  Chain chain;
  constexpr NumberType type = number_of<T>();
  chain.values = count;
  chain.read_count = 3;
  chain.reads[0] = {const_cast<T*>(a.data()), type, 0, false};
  chain.reads[1] = {const_cast<T*>(b.data()), type, 1, false};
  chain.reads[2] = {const_cast<float*>(&number), NumberType::kFp32, 2, true};
  chain.step_count = 5;
  chain.steps[0] = {ChainAction::kAdd, type, 0, 1, 3};
  chain.steps[1] = {ChainAction::kRelu, type, 3, 3, 4};
  chain.steps[2] = {ChainAction::kScaleBy, type, 4, 2, 5, 0.5F};
  chain.steps[3] = {ChainAction::kGeluErf, type, 5, 5, 6};
  chain.steps[4] = {ChainAction::kReluSlope, type, 4, 1, 7};
  chain.write_count = 2;
  chain.writes[0] = {y.data(), type, 6, false};
  chain.writes[1] = {slope.data(), type, 7, false};
  kernels::run_chain(stream, chain);

  const T* none = nullptr;
  const kernels::Matrix row{1, count};
  using kernels::Activation;
  kernels::add(stream, a.data(), b.data(), sum.data(), count);
  kernels::bias_activation_forward(stream, Activation::kRelu, row, sum.data(), none, kept.data());
  kernels::scale_by(stream, kept.data(), 0.5F, &number, scaled.data(), count);
  kernels::bias_activation_forward(stream, Activation::kGeluErf, row, scaled.data(), none,
                                   want.data());
  kernels::bias_activation_backward(stream, Activation::kRelu, row, kept.data(), none, b.data(),
                                    want_slope.data());
  CHECK(same_bits(y, want));
  CHECK(same_bits(slope, want_slope));
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
  chain.read_count = chain.step_count = 1;
  chain.write_count = 2;
  chain.reads[0] = {x.data(), NumberType::kFp32, 0, false};
  chain.steps[0] = {ChainAction::kScale, NumberType::kFp32, 0, 0, 1, 2};
  chain.writes[0] = {x.data(), NumberType::kFp32, 1, false};
  chain.writes[1] = {half.data(), NumberType::kFp16, 1, false};
  kernels::run_chain(Stream{}, chain);
  CHECK(x == std::vector<float>{2, -4, 6});
  CHECK(floats(half) == x);
  chain.values = 0;
  kernels::run_chain(Stream{}, chain);
  CHECK(x == std::vector<float>{2, -4, 6});
}
