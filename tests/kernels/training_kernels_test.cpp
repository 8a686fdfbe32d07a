// What a training's programs need beside the layers: the loss in two steps, batch norm, pooling,
// norms, numbers on the device, accuracy, positions.
#include <cmath>
#include <limits>

#include "host/accuracy.h"
#include "host/average_pool.h"
#include "host/batch_norm.h"
#include "host/clip_gradients.h"
#include "host/log_softmax.h"
#include "host/nll_loss.h"
#include "kernels/accuracy.h"
#include "kernels/average_pool.h"
#include "kernels/batch_norm.h"
#include "kernels/compare.h"
#include "kernels/gradient_norm.h"
#include "kernels/log_softmax.h"
#include "kernels/nll_loss.h"
#include "kernels/number.h"
#include "kernels/positions.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Image;
using kernels::Matrix;

namespace {

std::vector<std::int64_t> targets_for(const Matrix& shape) {
  std::vector<std::int64_t> targets;
  for (std::size_t row = 0; row < shape.rows; ++row)
    targets.push_back(row % 5 == 3 ? kernels::kIgnoredTarget
                                   : static_cast<std::int64_t>(row * 7 % shape.columns));
  return targets;
}

// Rows of one, narrow and wide, most beginning beside a multiple of 16 bytes; many rows.
constexpr Matrix kShapes[] = {{1, 1}, {3, 7}, {64, 10}, {5, 1001}, {4, 2049}, {3, 5003}, {2500, 3}};

host::ImageShape on_host(const Image& image) {
  return {
      static_cast<std::size_t>(image.batch), static_cast<std::size_t>(image.channels),
      static_cast<std::size_t>(image.height), static_cast<std::size_t>(image.width),
      image.channels_last ? host::ImageLayout::kChannelsLast : host::ImageLayout::kChannelsFirst};
}

template <typename T>
void check_batch_norm(const Image& shape, Stream stream) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto x = rounded<T>(numbers(shape.size(), 1)), dy = rounded<T>(numbers(shape.size(), 2));
  const auto gamma = numbers(channels, 3), beta = numbers(channels, 4);
  std::vector<float> y(shape.size()), mean(channels), rstd(channels), dx(shape.size());
  std::vector<float> dgamma(channels), dbeta(channels);
  std::vector<float> running_mean(channels, 0.5F), running_variance(channels, 2.0F);
  auto own_mean = running_mean, own_variance = running_variance;
  host::batch_norm_train(on_host(shape), floats(x), gamma, beta, y, {mean, rstd},
                         {running_mean, running_variance});
  host::batch_norm_backward(host::Mode::kTrain, on_host(shape), floats(x), gamma, floats(dy), mean,
                            rstd, {dx, dgamma, dbeta}, host::Into::kReplace);
  std::vector<T> own_y(shape.size()), own_dx(shape.size());
  std::vector<float> m(channels), r(channels), own_dgamma(channels), own_dbeta(channels);
  std::vector<float> workspace(kernels::batch_norm_workspace(shape));
  const kernels::BatchMoments moments{m.data(), r.data()};
  const kernels::RunningMoments running{own_mean.data(), own_variance.data()};
  kernels::batch_norm_train(stream, shape, x.data(), gamma.data(), beta.data(), 1e-5F,
                            workspace.data(), own_y.data(), moments, running);
  kernels::batch_norm_backward(stream, shape, x.data(), gamma.data(), dy.data(), moments,
                               workspace.data(), own_dx.data(), own_dgamma.data(),
                               own_dbeta.data());
  check_near(own_y, y, 16);
  check_near(own_dx, dx, 16);
  check_near(own_dgamma, dgamma, 16);
  check_near(own_dbeta, dbeta, 16);
  check_near(own_mean, running_mean, 16);
  check_near(own_variance, running_variance, 16);
  host::batch_norm_evaluate(on_host(shape), floats(x), gamma, beta, running_mean, running_variance,
                            y, {mean, rstd});
  kernels::batch_norm_evaluate(stream, shape, x.data(), gamma.data(), beta.data(), 1e-5F,
                               own_y.data(), moments, running);
  check_near(own_y, y, 16);
}

// y, then dx, dγ and dβ, of a batch in training.
struct BatchResults {
  std::vector<float> y, dx, dgamma, dbeta;
};

BatchResults trained(const Image& shape, std::vector<float> x, Stream stream) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto dy = numbers(shape.size(), 2);
  const auto gamma = numbers(channels, 3), beta = numbers(channels, 4);
  std::vector<float> mean(channels), rstd(channels), running_mean(channels),
      running_variance(channels), workspace(kernels::batch_norm_workspace(shape));
  BatchResults results{x, dy, gamma, beta};
  const kernels::BatchMoments moments{mean.data(), rstd.data()};
  kernels::batch_norm_train(stream, shape, x.data(), gamma.data(), beta.data(), 1e-5F,
                            workspace.data(), results.y.data(), moments,
                            {running_mean.data(), running_variance.data()});
  kernels::batch_norm_backward(stream, shape, x.data(), gamma.data(), results.dx.data(), moments,
                               workspace.data(), results.dx.data(), results.dgamma.data(),
                               results.dbeta.data());
  return results;
}

template <typename T>
void check_average_pool(const Image& shape, Stream stream) {
  const auto outputs = static_cast<std::size_t>(shape.batch * shape.channels);
  const auto x = rounded<T>(numbers(shape.size(), 5)), dy = rounded<T>(numbers(outputs, 6));
  std::vector<float> y(outputs), dx(shape.size());
  host::average_pool_forward(on_host(shape), floats(x), y);
  host::average_pool_backward(on_host(shape), floats(dy), dx);
  std::vector<T> own_y(outputs), own_dx(shape.size());
  kernels::average_pool_forward(stream, shape, x.data(), own_y.data());
  kernels::average_pool_backward(stream, shape, dy.data(), own_dx.data());
  check_near(own_y, y, 8);
  check_near(own_dx, dx, 8);
}

template <typename T>
void check_positions(const Matrix& shape, std::size_t whole, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 15)), table = rounded<T>(numbers(whole, 16));
  std::vector<float> expected(shape.size()), gradient(whole, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = as_float(x[i]) + as_float(table[i % shape.columns]);
    gradient[i % shape.columns] += as_float(x[i]);
  }
  std::vector<T> y(shape.size()), dtable(whole, as<T>(9));
  kernels::add_positions(stream, shape, x.data(), table.data(), y.data());
  kernels::add_positions_backward(stream, shape, x.data(), whole, dtable.data());
  check_near(y, expected, 4);
  CHECK(same_bits(dtable, rounded<T>(gradient)));
}

constexpr Image kImages[] = {{2, 3, 4, 5, false}, {2, 3, 4, 5, true}, {7, 1, 1, 1, false}};

// Of several parts: planes that no pack divides and such that one does, a plane for each part,
// channels side by side that packs divide or not, more of them than a block has, one, single
// pixels.
constexpr Image kManyParts[] = {{80, 2, 7, 9, false},  {40, 3, 8, 14, false}, {3, 2, 41, 57, false},
                                {5, 12, 17, 19, true}, {3, 70, 7, 11, true},  {4, 136, 5, 7, true},
                                {3, 1, 50, 41, true},  {1700, 3, 1, 1, false}};

}  // namespace

TEST_CASE("log-softmax and the loss after it are the host's") {
  for (const Stream stream : kOrders)
    for (const Matrix& shape : kShapes) {
      const auto x = numbers(shape.size(), 7), dy = numbers(shape.size(), 8);
      const auto targets = targets_for(shape);
      std::vector<float> y(shape.size()), dx(shape.size()), loss(1), dlog_p(shape.size());
      host::log_softmax_forward({shape.rows, shape.columns}, x, y);
      host::log_softmax_backward({shape.rows, shape.columns}, y, dy, dx);
      host::nll_loss_forward({shape.rows, shape.columns}, y, targets, loss);
      host::nll_loss_backward({shape.rows, shape.columns}, targets, 0.75F, dlog_p);
      std::vector<float> own_y(x.size()), own_dx(x.size()), own_loss(1), own_dlog_p(x.size());
      const float dloss = 0.75F;
      std::vector<float> workspace(kernels::nll_loss_workspace(shape.rows));
      kernels::log_softmax_forward(stream, shape, x.data(), own_y.data());
      kernels::log_softmax_backward(stream, shape, y.data(), dy.data(), own_dx.data());
      kernels::nll_loss_forward(stream, shape, y.data(), targets.data(), workspace.data(),
                                own_loss.data());
      kernels::nll_loss_backward(stream, shape, targets.data(), &dloss, workspace.data(),
                                 own_dlog_p.data());
      check_near(own_y, y, 8);
      check_near(own_dx, dx, 64);  // of the row's sum of dy, which can be many times a value
      check_near(own_loss, loss, 8);
      check_near(own_dlog_p, dlog_p, 2);
    }
}

TEST_CASE("batch norm and average pooling are the host's in every type and layout") {
  for (const Stream stream : kOrders)
    for (const Image& shape : kImages) {
      check_batch_norm<float>(shape, stream);
      check_average_pool<float>(shape, stream);
      check_average_pool<kernels::Half>(shape, stream);
      check_average_pool<kernels::Bfloat16>(shape, stream);
    }
  check_batch_norm<kernels::Half>(kImages[0], Stream{1});
  check_batch_norm<kernels::Bfloat16>(kImages[1], Stream{2});
}

TEST_CASE("batch norm in several parts is the host's in every type and layout") {
  for (const Image& shape : kManyParts) {
    INFO(shape.batch << " images of " << shape.channels << " channels");
    CHECK(kernels::batch_norm_workspace(shape) > 2 * static_cast<std::size_t>(shape.channels));
    check_batch_norm<float>(shape, Stream{});
    check_batch_norm<kernels::Half>(shape, Stream{1});
    check_batch_norm<kernels::Bfloat16>(shape, Stream{2});
  }
}

TEST_CASE("batch norm in parts repeats to the bit, whatever the order of blocks, and in place") {
  for (const Image& shape : kManyParts) {
    const auto x = numbers(shape.size(), 1);
    const BatchResults first = trained(shape, x, kOrders[0]);
    for (const Stream stream : {kOrders[1], kOrders[2]}) {
      const BatchResults again = trained(shape, x, stream);
      CHECK(same_bits(again.y, first.y));
      CHECK(same_bits(again.dx, first.dx));
      CHECK(same_bits(again.dgamma, first.dgamma));
      CHECK(same_bits(again.dbeta, first.dbeta));
    }
  }
}

TEST_CASE("batch norm of values far from 0 keeps their differences") {
  for (const Image& shape : {kManyParts[1], kManyParts[3]}) {
    const auto channels = static_cast<std::size_t>(shape.channels);
    auto x = numbers(shape.size(), 1);
    for (float& value : x) value += 1000;
    const auto gamma = numbers(channels, 3), beta = numbers(channels, 4);
    std::vector<float> y(x.size()), mean(channels), rstd(channels), running(channels);
    auto running_variance = running;
    host::batch_norm_train(on_host(shape), x, gamma, beta, y, {mean, rstd},
                           {running, running_variance});
    const BatchResults own = trained(shape, x, Stream{});
    // A unit in the last place of 1000 is 2^-14: the mean's rounding, times γ.
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::abs(own.y[i] - y[i]) > 4 * 0x1p-14F) FAIL("value " << i);
  }
}

namespace {

float root_of_squares(host::Values values) {
  return static_cast<float>(std::sqrt(host::sum_of_squares(values)));
}

}  // namespace

TEST_CASE("gradients are clipped by the norm of all of them") {
  for (const Stream stream : kOrders) {
    auto a = numbers(4099, 9), b = numbers(17, 10);
    auto own_a = a, own_b = b;
    const std::vector<host::Results> both{a, b};
    const float norm = host::clip_gradients(both, 1.5);
    std::vector<float> workspace(kernels::squares_workspace(own_a.size()) +
                                 kernels::squares_workspace(own_b.size()));
    std::vector<float> own_norm(1);
    const std::vector<kernels::Tensor<const float>> read{{own_a.data(), own_a.size()},
                                                         {own_b.data(), own_b.size()}};
    kernels::gradient_norm<float>(stream, read, workspace.data(), own_norm.data());
    check_near(own_norm, {norm}, 8);
    std::vector<float> each(2);
    kernels::gradient_norms<float>(stream, read, workspace.data(), each.data());
    check_near(each, {root_of_squares(own_a), root_of_squares(own_b)}, 8);
    const std::vector<kernels::Tensor<float>> written{{own_a.data(), own_a.size()},
                                                      {own_b.data(), own_b.size()}};
    kernels::clip_gradients<float>(stream, own_norm.data(), 1.5F, written);
    check_near(own_a, a, 8);
    check_near(own_b, b, 8);
  }
}

namespace {

template <typename T>
void check_narrow_clipping(host::NumberFormat format, float most, Stream stream) {
  auto a = rounded<T>(numbers(4099, 9)), b = rounded<T>(numbers(17, 10));
  const double squares = host::rounded_sum_of_squares(format, floats(a)) +
                         host::rounded_sum_of_squares(format, floats(b));
  const auto norm = static_cast<float>(std::sqrt(squares));
  std::vector<float> workspace(kernels::squares_workspace(a.size()) +
                               kernels::squares_workspace(b.size()));
  std::vector<float> own_norm(1);
  const std::vector<kernels::Tensor<const T>> read{{a.data(), a.size()}, {b.data(), b.size()}};
  kernels::gradient_norm<T>(stream, read, workspace.data(), own_norm.data());
  check_near(own_norm, {norm}, 2);
  std::vector<float> each(2);
  kernels::gradient_norms<T>(stream, read, workspace.data(), each.data());
  const auto rounded_norm = [&](const std::vector<T>& values) {
    return static_cast<float>(std::sqrt(host::rounded_sum_of_squares(format, floats(values))));
  };
  CHECK(each == std::vector<float>{rounded_norm(a), rounded_norm(b)});
  // As the program keeps it.
  const float kept = host::rounded(format, norm);
  const float factor = host::rounded_clip_factor(format, kept, most);
  for (std::vector<T>* gradient : {&a, &b}) {
    std::vector<float> expected = floats(*gradient);
    for (float& g : expected) g *= factor;
    const std::vector<kernels::Tensor<T>> list{{gradient->data(), gradient->size()}};
    kernels::clip_gradients<T>(stream, &kept, most, list);
    CHECK(same_bits(*gradient, rounded<T>(expected)));
  }
}

}  // namespace

TEST_CASE("narrow gradients are clipped as the host does, each norm rounded") {
  for (const Stream stream : kOrders)
    for (const float most : {0.7F, 1.5F, 1000.0F}) {
      check_narrow_clipping<Half>(host::NumberFormat::kFloat16, most, stream);
      check_narrow_clipping<Bfloat16>(host::NumberFormat::kBfloat16, most, stream);
    }
}

TEST_CASE("numbers on the device multiply and invert") {
  for (const Stream stream : kOrders)
    for (const std::size_t count : kCounts) {
      auto x = numbers(count, 11);
      const float number = 3;
      float inverse = 0;
      std::vector<float> expected, y(count);
      for (const float value : x) expected.push_back(value * 1.5F);
      kernels::scale_by(stream, x.data(), 0.5F, &number, y.data(), count);
      check_near(y, expected, 2);
      kernels::invert(stream, &number, &inverse);
      CHECK(inverse == static_cast<float>(1.0 / 3));
    }
}

TEST_CASE("right answers are counted as on the host, with equal values, NaNs and ignored rows") {
  for (const Stream stream : kOrders)
    for (const Matrix& shape : kShapes) {
      auto x = numbers(shape.size(), 12);
      if (shape.rows > 4) x[shape.columns * 4] = std::numeric_limits<float>::quiet_NaN();
      if (shape.rows > 2)
        std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(shape.columns * 2), shape.columns,
                    1.0F);
      const auto targets = targets_for(shape);
      float correct = 2;
      std::vector<float> workspace(kernels::count_correct_workspace(shape.rows));
      kernels::count_correct(stream, shape, x.data(), targets.data(), workspace.data(), &correct);
      const std::size_t expected = host::correct_rows({shape.rows, shape.columns}, x, targets);
      CHECK(correct == static_cast<float>(2 + expected));
    }
}

TEST_CASE("average pooling of planes and channels of any size is the host's") {
  for (const Stream stream : kOrders)
    for (const bool channels_last : {false, true})
      for (const Image& shape :
           {Image{3, 16, 7, 7, channels_last}, Image{1, 8, 4, 8, channels_last},
            Image{2, 40, 1, 3, channels_last}, Image{1, 2, 33, 32, channels_last},
            Image{70, 8, 1, 1, channels_last}}) {
        check_average_pool<float>(shape, stream);
        check_average_pool<kernels::Half>(shape, stream);
        check_average_pool<kernels::Bfloat16>(shape, stream);
      }
}

TEST_CASE("positions of every type, and of rows that no pack divides, sum over the sequences") {
  for (const Stream stream : kOrders)
    for (const Matrix& shape : {Matrix{1, 1}, Matrix{5, 24}, Matrix{9, 21}}) {
      check_positions<float>(shape, shape.columns + 8, stream);
      check_positions<kernels::Half>(shape, shape.columns + 3, stream);
      check_positions<kernels::Bfloat16>(shape, shape.columns, stream);
    }
}

TEST_CASE("positions are added to every sequence, and their gradient sums over them") {
  const Matrix shape{3, 20};  // sequences of 20 values; the table has room for 28
  const std::size_t whole = 28;
  for (const Stream stream : kOrders) {
    const auto x = numbers(shape.size(), 13), table = numbers(whole, 14);
    std::vector<float> expected(shape.size()), gradient(whole, 0.0F);
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i] = x[i] + table[i % shape.columns];
      gradient[i % shape.columns] += x[i];
    }
    std::vector<float> y(shape.size()), dtable(whole, 9.0F);
    kernels::add_positions(stream, shape, x.data(), table.data(), y.data());
    kernels::add_positions_backward(stream, shape, x.data(), whole, dtable.data());
    check_near(y, expected, 4);
    check_near(dtable, gradient, 4);
  }
}
