#include "kernels/conv2d.h"

#include "host/conv2d.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Into;

namespace {

std::size_t wide(int value) {
  return static_cast<std::size_t>(value);
}

host::Window on_host(const kernels::Window& window) {
  return {wide(window.size), wide(window.stride), wide(window.padding), wide(window.dilation)};
}

host::Conv2d on_host(const kernels::Conv2d& conv) {
  const kernels::Image& in = conv.input;
  const auto layout =
      in.channels_last ? host::ImageLayout::kChannelsLast : host::ImageLayout::kChannelsFirst;
  return {{wide(in.batch), wide(in.channels), wide(in.height), wide(in.width), layout},
          wide(conv.outputs),
          wide(conv.groups),
          on_host(conv.vertical),
          on_host(conv.horizontal)};
}

// Of both sides, for one convolution.
template <typename T>
struct Arrays {
  explicit Arrays(const kernels::Conv2d& conv)
      : host_conv(on_host(conv)),
        x(rounded<T>(numbers(conv.input.size(), 71))),
        w(rounded<T>(numbers(host_conv.weights(), 72))),
        bias(rounded<T>(numbers(wide(conv.outputs), 73))),
        dy(rounded<T>(numbers(conv.output().size(), 74))),
        workspace(host_conv.workspace()) {}

  host::Conv2d host_conv;
  std::vector<T> x;
  std::vector<T> w;
  std::vector<T> bias;
  std::vector<T> dy;
  std::vector<float> workspace;
};

// Bounds are those that src/host has from PyTorch (its README): both sum in orders of their own.
template <typename T>
void check_forward(const kernels::Conv2d& conv, Stream stream) {
  Arrays<T> a(conv);
  std::vector<float> expected(a.dy.size());
  host::conv2d_forward(a.host_conv, floats(a.x), floats(a.w), floats(a.bias), expected,
                       a.workspace);
  std::vector<T> y(a.dy.size());
  kernels::conv2d_forward(stream, conv, a.x.data(), a.w.data(), a.bias.data(), y.data());
  check_near(y, expected, 8);
}

template <typename T>
void check_backward(const kernels::Conv2d& conv, Into into, Stream stream) {
  Arrays<T> a(conv);
  std::vector<float> expected_dx(a.x.size());
  std::vector<float> dw = numbers(a.w.size(), 75);
  std::vector<float> db = numbers(a.bias.size(), 76);
  std::vector<float> expected_dw = dw;
  std::vector<float> expected_db = db;
  host::conv2d_backward(a.host_conv, floats(a.x), floats(a.w), floats(a.dy),
                        {expected_dx, expected_dw, expected_db}, a.workspace,
                        into == Into::kAdd ? host::Into::kAdd : host::Into::kReplace);
  std::vector<T> dx(a.x.size());
  kernels::conv2d_backward_input(stream, conv, a.w.data(), a.dy.data(), dx.data());
  check_near(dx, expected_dx, 8);
  std::vector<float> parts(kernels::conv2d_weights_workspace(conv));
  kernels::conv2d_backward_weights(stream, conv, a.x.data(), a.dy.data(), parts.data(), dw.data(),
                                   into);
  check_near(dw, expected_dw, 12);
  parts.assign(kernels::conv2d_bias_workspace(conv), 0);
  kernels::conv2d_backward_bias(stream, conv, a.dy.data(), parts.data(), db.data(), into);
  check_near(db, expected_db, 8);
}

std::vector<kernels::Conv2d> convolutions(bool last) {
  return {
      {{1, 1, 1, 1, last}, 1, 1, {}, {}},
      {{2, 3, 7, 9, last}, 5, 1, {3, 1, 1}, {3, 1, 1}},
      {{1, 4, 10, 8, last}, 66, 1, {5, 2, 2}, {3, 2, 0}},
      {{3, 6, 6, 5, last}, 4, 2, {3, 1, 2, 2}, {2, 1}},
      {{2, 70, 4, 4, last}, 3, 1, {}, {}},
  };
}

}  // namespace

TEST_CASE("convolution is the host's, forward and backward") {
  const bool channels_last = GENERATE(false, true);
  for (const kernels::Conv2d& conv : convolutions(channels_last)) {
    check_forward<float>(conv, Stream{1});
    check_backward<float>(conv, Into::kAdd, Stream{});
  }
}

TEST_CASE("convolution in FP16 and BF16 is the host's but for a rounding") {
  const kernels::Conv2d conv{{1, 4, 5, 6, false}, 6, 2, {3, 1, 1}, {2, 2}};
  check_forward<Half>(conv, Stream{});
  check_forward<Bfloat16>(conv, Stream{1});
  check_backward<Half>(conv, Into::kReplace, Stream{2});
  check_backward<Bfloat16>(conv, Into::kReplace, Stream{});
}

TEST_CASE("a convolution may do without a bias") {
  const kernels::Conv2d conv{{1, 2, 3, 3, false}, 2, 1, {2}, {2}};
  Arrays<float> a(conv);
  std::vector<float> expected(a.dy.size());
  host::conv2d_forward(a.host_conv, a.x, a.w, {}, expected, a.workspace);
  std::vector<float> y(a.dy.size());
  kernels::conv2d_forward<float>(Stream{}, conv, a.x.data(), a.w.data(), nullptr, y.data());
  check_near(y, expected, 8);
}

TEST_CASE("gradients of weights are sums over parts of the pixels, where there are many") {
  for (const bool last : {false, true}) {
    const kernels::Conv2d conv{{5, 4, 13, 17, last}, 6, 2, {3, 1, 1}, {3, 1, 1}};
    const std::size_t weights = on_host(conv).weights();
    CHECK(kernels::conv2d_weights_workspace(conv) > 4 * weights);
    CHECK(kernels::conv2d_weights_workspace(conv) % weights == 0);
    check_backward<float>(conv, Into::kReplace, kOrders[0]);
    check_backward<float>(conv, Into::kAdd, kOrders[1]);
  }
}

TEST_CASE("a bias's gradient is the same whatever the order of blocks, in parts of many values") {
  for (const bool last : {false, true}) {
    const kernels::Conv2d conv{{9, 1, 23, 31, last}, 12, 1, {}, {}};
    const auto dy = numbers(conv.output().size(), 77);
    std::vector<float> parts(kernels::conv2d_bias_workspace(conv));
    CHECK(parts.size() > 2 * wide(conv.outputs));
    std::vector<double> sums(wide(conv.outputs));
    for (std::size_t i = 0; i < dy.size(); ++i)
      sums[wide(kernels::place_in(conv.output(), i).channel)] += static_cast<double>(dy[i]);
    const std::vector<float> expected(sums.begin(), sums.end());
    std::vector<float> first(wide(conv.outputs));
    kernels::conv2d_backward_bias(kOrders[0], conv, dy.data(), parts.data(), first.data(),
                                  Into::kReplace);
    check_near(first, expected, 8);
    for (const Stream stream : kOrders) {
      std::vector<float> db(wide(conv.outputs));
      kernels::conv2d_backward_bias(stream, conv, dy.data(), parts.data(), db.data(),
                                    Into::kReplace);
      CHECK(same_bits(db, first));
    }
  }
}
