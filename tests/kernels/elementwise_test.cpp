#include "kernels/elementwise.h"

#include "host/elementwise.h"
#include "host/gelu.h"
#include "host/relu.h"
#include "host/silu.h"
#include "host/tanh.h"
#include "kernels/activation.h"
#include "kernels/cast.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Activation;
using kernels::Matrix;

namespace {

template <typename From, typename To>
void check_cast(const std::vector<float>& values) {
  const std::vector<From> from = rounded<From>(values);
  std::vector<To> to(from.size());
  kernels::cast(Stream{}, from.data(), to.data(), from.size());
  CHECK(same_bits(to, rounded<To>(floats(from))));
}

// y = act(x + b) and dx of the host, on values as T has them.
struct HostActivation {
  std::vector<float> y;
  std::vector<float> dx;
};

HostActivation host_activation(Activation activation, const Matrix& shape,
                               const std::vector<float>& x, const std::vector<float>& bias,
                               const std::vector<float>& dy) {
  std::vector<float> z = x;
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += bias[i % shape.columns];
  HostActivation result{z, dy};
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      host::relu_forward(z, result.y);
      host::relu_backward(z, dy, result.dx);
      break;
    case Activation::kGeluErf:
    case Activation::kGeluTanh: {
      const auto kind = activation == Activation::kGeluErf ? host::Gelu::kErf : host::Gelu::kTanh;
      host::gelu_forward(kind, z, result.y);
      host::gelu_backward(kind, z, dy, result.dx);
      break;
    }
    case Activation::kTanh:
      host::tanh_forward(z, result.y);
      host::tanh_backward(z, dy, result.dx);  // z stands for what forward gave
      break;
    case Activation::kSilu:
      host::silu_forward(z, result.y);
      host::silu_backward(z, dy, result.dx);
  }
  return result;
}

template <typename T>
void check_activation(Activation activation, const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 1, 2));
  const auto bias = rounded<T>(numbers(shape.columns, 2));
  const auto dy = rounded<T>(numbers(shape.size(), 3));
  const HostActivation host =
      host_activation(activation, shape, floats(x), floats(bias), floats(dy));
  std::vector<T> y(x.size());
  kernels::bias_activation_forward(stream, activation, shape, x.data(), bias.data(), y.data());
  check_near(y, host.y, 4);
  std::vector<T> dx(x.size());
  kernels::bias_activation_backward(stream, activation, shape, x.data(), bias.data(), dy.data(),
                                    dx.data());
  check_near(dx, host.dx, 4);
}

template <typename T>
void check_arithmetic(std::size_t count, Stream stream) {
  const auto a = rounded<T>(numbers(count, 4));
  const auto b = rounded<T>(numbers(count, 5));
  std::vector<float> expected(count);
  host::add(floats(a), floats(b), expected);
  std::vector<T> sum(count);
  kernels::add(stream, a.data(), b.data(), sum.data(), count);
  CHECK(same_bits(sum, rounded<T>(expected)));

  host::product(floats(a), floats(b), expected);
  kernels::product(stream, a.data(), b.data(), sum.data(), count);
  CHECK(same_bits(sum, rounded<T>(expected)));

  host::scale(floats(a), 0.3F, expected);
  kernels::scale(stream, a.data(), 0.3F, sum.data(), count);
  CHECK(same_bits(sum, rounded<T>(expected)));

  std::vector<float> positive = floats(a);
  for (float& value : positive) value = std::abs(value);
  for (const float exponent : {2.0F, 0.5F, 1.5F}) {
    host::power(floats(rounded<T>(positive)), exponent, expected);
    kernels::power(stream, rounded<T>(positive).data(), exponent, sum.data(), count);
    if (exponent == 1.5F) {
      check_near(sum, expected, 4);
    } else {
      CHECK(same_bits(sum, rounded<T>(expected)));
    }
  }

  kernels::fill(stream, sum.data(), -2.5F, count);
  CHECK(same_bits(sum, std::vector<T>(count, as<T>(-2.5F))));
}

}  // namespace

TEST_CASE("casts of every FP16 and BF16 value are the host's") {
  std::vector<float> halves;
  std::vector<float> bfloats;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    halves.push_back(to_float(Half{word}));
    bfloats.push_back(to_float(Bfloat16{word}));
  }
  check_cast<Half, float>(halves);
  check_cast<Bfloat16, float>(bfloats);
  check_cast<Half, Bfloat16>(halves);
  check_cast<Bfloat16, Half>(bfloats);
  check_cast<float, Half>(bfloats);
  check_cast<float, Bfloat16>(halves);
}

TEST_CASE("casts round to nearest, ties to even, at any length") {
  for (const std::size_t count : kCounts) {
    check_cast<float, Half>(numbers(count, 6));
    check_cast<float, Bfloat16>(numbers(count, 7, 1e-6F));
  }
  const std::vector<float> ties = {1 + 0x1p-11F, 1 + 0x3p-11F, 65519.9F, 65520,
                                   0x1p-25F,     0x1.8p-24F,   -0.0F,    1 + 0x1p-8F};
  check_cast<float, Half>(ties);
  check_cast<float, Bfloat16>(ties);
}

TEST_CASE("a cast from or to what is not aligned is the same") {
  const std::vector<float> values = numbers(1001, 8);
  std::vector<Half> to(1001);
  kernels::cast(Stream{}, values.data() + 1, to.data(), std::size_t{1000});
  kernels::cast(Stream{}, values.data(), to.data() + 1, std::size_t{1000});
  std::vector<Half> expected = rounded<Half>(values);
  expected.insert(expected.begin(), expected[1]);
  expected.pop_back();
  CHECK(same_bits(to, expected));
}

TEST_CASE("arrays that threads walk several packs at a time are the same") {
  const std::size_t count = (std::size_t{1} << 22U) + 4099;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 2039) - 1000;
  const std::vector<Half> halves = rounded<Half>(values);
  check_cast<Half, float>(values);
  check_cast<float, Half>(values);
  std::vector<Half> sum(count);
  kernels::scale(Stream{1}, halves.data(), 2.0F, sum.data(), count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += as_float(sum[i]) != 2 * as_float(halves[i]);
  CHECK(wrong == 0);
}

TEST_CASE("addition, products, scaling, squares, roots and filling are the host's to the bit") {
  for (const Stream stream : kOrders) {
    for (const std::size_t count : kCounts) {
      check_arithmetic<float>(count, stream);
      check_arithmetic<Half>(count, stream);
      check_arithmetic<Bfloat16>(count, stream);
    }
  }
}

TEST_CASE("a sum may be one of its terms") {
  std::vector<float> a = numbers(1000, 9);
  const std::vector<float> b = numbers(1000, 10);
  std::vector<float> expected = a;
  host::add(a, b, expected);
  kernels::add(Stream{}, a.data(), b.data(), a.data(), a.size());
  CHECK(a == expected);
}

TEST_CASE("bias and activation are the host's, forward and backward") {
  const auto activation = GENERATE(Activation::kNone, Activation::kRelu, Activation::kGeluErf,
                                   Activation::kGeluTanh, Activation::kTanh, Activation::kSilu);
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{5, 7}, Matrix{3, 1}, Matrix{33, 40}, Matrix{9, 3}, Matrix{16, 13}}) {
    check_activation<float>(activation, shape, Stream{});
    check_activation<Half>(activation, shape, Stream{1});
    check_activation<Bfloat16>(activation, shape, Stream{2});
  }
}

TEST_CASE("bias and activation of what is not aligned are the same") {
  const Matrix shape{7, 16};
  const auto x = numbers(shape.size() + 1, 11), bias = numbers(shape.columns + 1, 12);
  const std::vector<float> moved_x(x.begin() + 1, x.end());
  const std::vector<float> moved_bias(bias.begin() + 1, bias.end());
  std::vector<float> want(shape.size()), y(shape.size() + 1);
  kernels::bias_activation_forward(Stream{}, Activation::kGeluTanh, shape, moved_x.data(),
                                   moved_bias.data(), want.data());
  kernels::bias_activation_forward(Stream{}, Activation::kGeluTanh, shape, x.data() + 1,
                                   bias.data() + 1, y.data() + 1);
  CHECK(std::equal(want.begin(), want.end(), y.begin() + 1));
  kernels::bias_activation_forward(Stream{}, Activation::kGeluTanh, shape, moved_x.data(),
                                   bias.data() + 1, y.data());
  CHECK(std::equal(want.begin(), want.end(), y.begin()));
}

TEST_CASE("a NaN passes through an activation, and nothing else does through ReLU's slope at 0") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, -1, 0, 1, -0.0F};
  std::vector<float> y(5);
  const Matrix shape{5, 1};
  kernels::bias_activation_forward<float>(Stream{}, Activation::kRelu, shape, x.data(), nullptr,
                                          y.data());
  CHECK(std::isnan(y[0]));
  CHECK(std::vector<float>(y.begin() + 1, y.end()) == std::vector<float>{0, 0, 1, 0});
  const std::vector<float> dy(5, 2.0F);
  kernels::bias_activation_backward<float>(Stream{}, Activation::kRelu, shape, x.data(), nullptr,
                                           dy.data(), y.data());
  CHECK(y == std::vector<float>{2, 0, 0, 2, 0});
}
