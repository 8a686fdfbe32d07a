#include "host/batch_norm.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "host/channels.h"

namespace trainscope::host {
namespace {

float rstd_of(double variance, float eps) {
  return static_cast<float>(1 / std::sqrt(variance + static_cast<double>(eps)));
}

void blend(float& running, double fresh, double momentum) {
  running = static_cast<float>((1 - momentum) * running + momentum * fresh);
}

void normalise(const ImageShape& shape, const ChannelBlock& block, Values x, Values gamma,
               Values beta, const RowMoments& moments, Results y) {
  for_each_value(shape, block, [&](std::size_t i, std::size_t c) {
    y[i] = (x[i] - moments.mean[c]) * (moments.rstd[c] * gamma[c]) + beta[c];
  });
}

// The variance is taken about the mean as it is kept: what its rounding adds, (2^-24 mean)² at
// most, is far below the last place of a variance that FP32 values have.
void find_moments(const ImageShape& shape, const ChannelBlock& block, Values x,
                  const RowMoments& moments, const RunningMoments& running, float eps) {
  const auto count = static_cast<double>(shape.batch * shape.pixels());
  const ChannelTotals sums =
      channel_totals(shape, block, [&](std::size_t i, std::size_t) { return x[i]; });
  for (std::size_t c = block.begin; c < block.end; ++c) {
    const double mean = sums[c - block.begin] / count;
    moments.mean[c] = static_cast<float>(mean);
    blend(running.mean[c], mean, running.momentum);
  }
  const ChannelTotals squares = channel_totals(shape, block, [&](std::size_t i, std::size_t c) {
    const double away = static_cast<double>(x[i]) - moments.mean[c];
    return away * away;
  });
  for (std::size_t c = block.begin; c < block.end; ++c) {
    const double square = squares[c - block.begin];
    moments.rstd[c] = rstd_of(square / count, eps);
    blend(running.variance[c], square / (count - 1), running.momentum);
  }
}

// What backward has of a batch beside the shape.
struct Backward {
  Values x;
  Values gamma;
  Values dy;
  Values mean;
  Values rstd;
};

// The means of dy and of dy x̂ count in training only, where mean and variance depend on x.
void input_gradient(Mode mode, const ImageShape& shape, const ChannelBlock& block,
                    const Backward& b, const ChannelTotals& sums, const ChannelTotals& with_x,
                    Results dx) {
  const auto count = static_cast<double>(shape.batch * shape.pixels());
  const double counts = mode == Mode::kTrain ? 1 / count : 0;
  for_each_value(shape, block, [&](std::size_t i, std::size_t c) {
    const auto mean_dy = static_cast<float>(sums[c - block.begin] * counts);
    const auto slope = static_cast<float>(with_x[c - block.begin] * counts * b.rstd[c]);
    dx[i] = (b.dy[i] - mean_dy - (b.x[i] - b.mean[c]) * slope) * (b.gamma[c] * b.rstd[c]);
  });
}

void write_gradient(const ChannelBlock& block, const ChannelTotals& totals, Results gradient,
                    Into into) {
  if (gradient.empty()) return;
  for (std::size_t c = block.begin; c < block.end; ++c) {
    const double before = into == Into::kAdd ? gradient[c] : 0.0;
    gradient[c] = static_cast<float>(before + totals[c - block.begin]);
  }
}

}  // namespace

void batch_norm_train(const ImageShape& shape, Values x, Values gamma, Values beta, Results y,
                      const RowMoments& moments, const RunningMoments& running, float eps,
                      const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  assert(gamma.size() == shape.channels && beta.size() == shape.channels);
  const std::size_t count = shape.batch * shape.pixels();
  if (count < 2) {
    throw InputError(
        fmt::format("batch normalisation needs more than one value a channel in training, not {}; "
                    "take a larger batch or evaluate",
                    count));
  }
  const auto normalise_block = [&](const ChannelBlock& block) {
    find_moments(shape, block, x, moments, running, eps);
    normalise(shape, block, x, gamma, beta, moments, y);
  };
  for_each_block(shape, normalise_block, workers);
}

void batch_norm_evaluate(const ImageShape& shape, Values x, Values gamma, Values beta,
                         Values running_mean, Values running_variance, Results y,
                         const RowMoments& moments, float eps, const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  const auto normalise_block = [&](const ChannelBlock& block) {
    for (std::size_t c = block.begin; c < block.end; ++c) {
      moments.mean[c] = running_mean[c];
      moments.rstd[c] = rstd_of(running_variance[c], eps);
    }
    normalise(shape, block, x, gamma, beta, moments, y);
  };
  for_each_block(shape, normalise_block, workers);
}

void batch_norm_backward(Mode mode, const ImageShape& shape, Values x, Values gamma, Values dy,
                         Values mean, Values rstd, const NormGradients& gradients, Into into,
                         const Workers& workers) {
  assert(x.size() == shape.size() && dy.size() == shape.size());
  const bool dx_sums = !gradients.dx.empty() && mode == Mode::kTrain;
  const auto plain = [&](std::size_t i, std::size_t) { return dy[i]; };
  const auto scaled = [&](std::size_t i, std::size_t c) {
    return static_cast<double>(dy[i]) * ((x[i] - mean[c]) * rstd[c]);
  };
  const auto block_backward = [&](const ChannelBlock& block) {
    ChannelTotals sums{};
    ChannelTotals with_x{};
    if (dx_sums || !gradients.dbeta.empty()) sums = channel_totals(shape, block, plain);
    if (dx_sums || !gradients.dgamma.empty()) with_x = channel_totals(shape, block, scaled);
    write_gradient(block, with_x, gradients.dgamma, into);
    write_gradient(block, sums, gradients.dbeta, into);
    if (gradients.dx.empty()) return;
    input_gradient(mode, shape, block, {x, gamma, dy, mean, rstd}, sums, with_x, gradients.dx);
  };
  for_each_block(shape, block_backward, workers);
}

}  // namespace trainscope::host
