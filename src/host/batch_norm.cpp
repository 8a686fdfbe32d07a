#include "host/batch_norm.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace trainscope::host {
namespace {

// Calls body(i) with the place of every value of a channel.
template <typename Body>
void for_each_in_channel(const ImageShape& shape, std::size_t channel, const Body& body) {
  for (std::size_t n = 0; n < shape.batch; ++n) {
    const std::size_t first = n * shape.image_size() + channel * shape.channel_stride();
    for (std::size_t p = 0; p < shape.pixels(); ++p) body(first + p * shape.pixel_stride());
  }
}

struct Moments {
  double mean;
  double variance;  // biased
};

Moments moments_of(const ImageShape& shape, std::size_t channel, Values x) {
  const auto count = static_cast<double>(shape.batch * shape.pixels());
  double sum = 0;
  for_each_in_channel(shape, channel, [&](std::size_t i) { sum += x[i]; });
  const double mean = sum / count;
  double squares = 0;
  for_each_in_channel(shape, channel,
                      [&](std::size_t i) { squares += (x[i] - mean) * (x[i] - mean); });
  return {mean, squares / count};
}

float rstd_of(double variance, float eps) {
  return static_cast<float>(1 / std::sqrt(variance + static_cast<double>(eps)));
}

void normalise(const ImageShape& shape, std::size_t channel, Values x, float mean, float scale,
               float shift, Results y) {
  for_each_in_channel(shape, channel, [&](std::size_t i) { y[i] = (x[i] - mean) * scale + shift; });
}

void blend(float& running, double fresh, double momentum) {
  running = static_cast<float>((1 - momentum) * running + momentum * fresh);
}

}  // namespace

void batch_norm_train(const ImageShape& shape, Values x, Values gamma, Values beta, Results y,
                      const RowMoments& moments, const RunningMoments& running, float eps) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  assert(gamma.size() == shape.channels && beta.size() == shape.channels);
  const std::size_t count = shape.batch * shape.pixels();
  if (count < 2) {
    throw InputError(
        fmt::format("batch normalisation needs more than one value a channel in training, not {}; "
                    "take a larger "
                    "batch or evaluate",
                    count));
  }
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  for (std::size_t c = 0; c < shape.channels; ++c) {
    const auto [mean, variance] = moments_of(shape, c, x);
    moments.mean[c] = static_cast<float>(mean);
    moments.rstd[c] = rstd_of(variance, eps);
    blend(running.mean[c], mean, running.momentum);
    blend(running.variance[c], variance * unbiased, running.momentum);
    normalise(shape, c, x, moments.mean[c], moments.rstd[c] * gamma[c], beta[c], y);
  }
}

void batch_norm_evaluate(const ImageShape& shape, Values x, Values gamma, Values beta,
                         Values running_mean, Values running_variance, Results y,
                         const RowMoments& moments, float eps) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  for (std::size_t c = 0; c < shape.channels; ++c) {
    moments.mean[c] = running_mean[c];
    moments.rstd[c] = rstd_of(running_variance[c], eps);
    normalise(shape, c, x, moments.mean[c], moments.rstd[c] * gamma[c], beta[c], y);
  }
}

void batch_norm_backward(Mode mode, const ImageShape& shape, Values x, Values gamma, Values dy,
                         Values mean, Values rstd, const NormGradients& gradients, Into into) {
  assert(x.size() == shape.size() && dy.size() == shape.size());
  assert(gradients.dx.size() == shape.size());
  const auto count = static_cast<double>(shape.batch * shape.pixels());
  for (std::size_t c = 0; c < shape.channels; ++c) {
    double sum = 0;
    double with_x = 0;
    for_each_in_channel(shape, c, [&](std::size_t i) {
      sum += dy[i];
      with_x += static_cast<double>(dy[i]) * ((x[i] - mean[c]) * rstd[c]);
    });
    const bool add = into == Into::kAdd;
    gradients.dgamma[c] = static_cast<float>((add ? gradients.dgamma[c] : 0.0) + with_x);
    gradients.dbeta[c] = static_cast<float>((add ? gradients.dbeta[c] : 0.0) + sum);
    const bool train = mode == Mode::kTrain;
    const auto mean_dy = static_cast<float>(train ? sum / count : 0);
    const auto slope = static_cast<float>(train ? with_x / count * rstd[c] : 0);
    const float scale = gamma[c] * rstd[c];
    for_each_in_channel(shape, c, [&](std::size_t i) {
      gradients.dx[i] = (dy[i] - mean_dy - (x[i] - mean[c]) * slope) * scale;
    });
  }
}

}  // namespace trainscope::host
