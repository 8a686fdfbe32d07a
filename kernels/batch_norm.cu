#include "kernels/batch_norm.h"

#include "kernels/channels.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// What parts of a batch tell of each channel, in the workspace.
struct MomentParts {
  MomentParts(const Image& shape, float* workspace)
      : means(workspace), squares(workspace + channel_parts_workspace(shape, 1)) {}
  float* means;
  float* squares;  // Σ (x - the part's mean)²
};

template <typename Walk, typename T>
__global__ void part_moments_kernel(Walk walk, const T* x, MomentParts kept) {
  const float count = walk.parts.values(walk.part());
  OfChannels<Walk> means = part_sums(walk, [](int, float value) { return value; }, x);
  for (float& mean : means.values) mean /= count;
  const auto square = [&](int k, float value) {
    const float away = value - means.values[k];
    return away * away;
  };
  const OfChannels<Walk> squares = part_sums(walk, square, x);
  keep_part(walk, means, kept.means);
  keep_part(walk, squares, kept.squares);
}

// A block for a channel.
__global__ void moments_kernel(ChannelParts parts, MomentParts kept, float eps,
                               BatchMoments moments, RunningMoments running) {
  const float* means = kept.means + blockIdx.x * parts.count;
  const float* squares = kept.squares + blockIdx.x * parts.count;
  const float count = parts.values();
  const auto sum = [&](std::size_t part) { return parts.values(part) * means[part]; };
  const float mean = sum_of_parts(parts.count, sum) / count;
  const auto square = [&](std::size_t part) {
    const float away = means[part] - mean;
    return squares[part] + parts.values(part) * (away * away);
  };
  const float total = sum_of_parts(parts.count, square);
  if (threadIdx.x != 0) return;
  const unsigned c = blockIdx.x;
  moments.mean[c] = mean;
  moments.rstd[c] = 1 / sqrtf(total / count + eps);
  const float keep = 1 - running.momentum;
  running.mean[c] = keep * running.mean[c] + running.momentum * mean;
  running.variance[c] = keep * running.variance[c] + running.momentum * (total / (count - 1));
}

__global__ void kept_moments_kernel(std::size_t channels, float eps, BatchMoments moments,
                                    RunningMoments running) {
  for (std::size_t c = first_item(); c < channels; c += item_step()) {
    moments.mean[c] = running.mean[c];
    moments.rstd[c] = 1 / sqrtf(running.variance[c] + eps);
  }
}

struct Norm {
  float mean;
  float slope;
  float beta;
  __device__ float operator()(float x) const { return (x - mean) * slope + beta; }
};

template <typename Walk, typename T>
__global__ void normalise_kernel(Walk walk, const T* x, const float* gamma, const float* beta,
                                 BatchMoments moments, T* y) {
  if (!walk.has_channels()) return;
  Norm norms[Walk::kChannels];
  for (int k = 0; k < Walk::kChannels; ++k) {
    const std::size_t c = walk.channel() + static_cast<std::size_t>(k);
    norms[k] = {moments.mean[c], moments.rstd[c] * gamma[c], beta[c]};
  }
  map_channels(walk, [&](int k, float value) { return norms[k](value); }, y, x);
}

// Parts of Σ dy, then those of Σ dy x̂.
template <typename Walk, typename T>
__global__ void gradient_sums_kernel(Walk walk, const T* x, const T* dy, BatchMoments moments,
                                     float* dbeta_parts, float* dgamma_parts) {
  OfChannels<Walk> mean{}, rstd{}, plain{}, with_x{};
  for (int k = 0; k < Walk::kChannels; ++k) {
    const std::size_t c = walk.channel() + static_cast<std::size_t>(k);
    mean.values[k] = walk.has_channels() ? moments.mean[c] : 0;
    rstd.values[k] = walk.has_channels() ? moments.rstd[c] : 0;
  }
  const auto take = [&](int k, float value, float g) {
    plain.values[k] += g;
    with_x.values[k] += g * ((value - mean.values[k]) * rstd.values[k]);
  };
  for_channels(walk, take, x, dy);
  keep_part(walk, walk.total(plain), dbeta_parts);
  keep_part(walk, walk.total(with_x), dgamma_parts);
}

struct NormGradient {
  float mean;
  float slope;
  float mean_dy;
  float factor;
  __device__ float operator()(float x, float dy) const {
    return (dy - mean_dy - (x - mean) * slope) * factor;
  }
};

template <typename Walk, typename T>
__global__ void input_gradient_kernel(Walk walk, const T* x, const float* gamma, const T* dy,
                                      BatchMoments moments, const float* dgamma, const float* dbeta,
                                      T* dx) {
  if (!walk.has_channels()) return;
  const float count = walk.parts.values();
  NormGradient gradients[Walk::kChannels];
  for (int k = 0; k < Walk::kChannels; ++k) {
    const std::size_t c = walk.channel() + static_cast<std::size_t>(k);
    const float rstd = moments.rstd[c];
    gradients[k] = {moments.mean[c], dgamma[c] / count * rstd, dbeta[c] / count, gamma[c] * rstd};
  }
  const auto gradient = [&](int k, float value, float d) { return gradients[k](value, d); };
  map_channels(walk, gradient, dx, x, dy);
}

template <typename T>
void normalise(const char* name, Stream stream, const Image& shape, const T* x, const float* gamma,
               const float* beta, const BatchMoments& moments, T* y) {
  const auto run = [&](const auto& walk) {
    launch(name, normalise_kernel<std::decay_t<decltype(walk)>, T>, stream, walk.shape(), walk, x,
           gamma, beta, moments, y);
  };
  with_channel_walk(shape, run, x, static_cast<const T*>(y));
}

}  // namespace

std::size_t batch_norm_workspace(const Image& shape) {
  return channel_parts_workspace(shape, 2);
}

template <typename T>
void batch_norm_train(Stream stream, const Image& shape, const T* x, const float* gamma,
                      const float* beta, float eps, float* workspace, T* y,
                      const BatchMoments& moments, const RunningMoments& running) {
  if (shape.size() == 0) return;
  const char* name = "batch_norm_train";
  const MomentParts kept(shape, workspace);
  const auto sum = [&](const auto& walk) {
    launch(name, part_moments_kernel<std::decay_t<decltype(walk)>, T>, stream, walk.shape(), walk,
           x, kept);
  };
  with_channel_walk(shape, sum, x);
  const ChannelParts parts(shape);
  launch(name, moments_kernel, stream, shape_for_parts(shape, parts), parts, kept, eps, moments,
         running);
  normalise(name, stream, shape, x, gamma, beta, moments, y);
}

template <typename T>
void batch_norm_evaluate(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const float* beta, float eps, T* y, const BatchMoments& moments,
                         const RunningMoments& running) {
  if (shape.size() == 0) return;
  const char* name = "batch_norm_evaluate";
  const auto channels = static_cast<std::size_t>(shape.channels);
  launch(name, kept_moments_kernel, stream, shape_for(channels), channels, eps, moments, running);
  normalise(name, stream, shape, x, gamma, beta, moments, y);
}

template <typename T>
void batch_norm_backward(Stream stream, const Image& shape, const T* x, const float* gamma,
                         const T* dy, const BatchMoments& moments, float* workspace, T* dx,
                         float* dgamma, float* dbeta) {
  if (shape.size() == 0) return;
  const char* name = "batch_norm_backward";
  const auto sum = [&](const auto& walk) {
    launch(name, gradient_sums_kernel<std::decay_t<decltype(walk)>, T>, stream, walk.shape(), walk,
           x, dy, moments, workspace, workspace + channel_parts_workspace(shape, 1));
  };
  with_channel_walk(shape, sum, x, dy);
  add_channel_parts(name, stream, shape, workspace, ChannelTotals<2>{{dbeta, dgamma}},
                    Into::kReplace);
  const auto apply = [&](const auto& walk) {
    launch(name, input_gradient_kernel<std::decay_t<decltype(walk)>, T>, stream, walk.shape(), walk,
           x, gamma, dy, moments, dgamma, dbeta, dx);
  };
  with_channel_walk(shape, apply, x, dy, static_cast<const T*>(dx));
}

#define TRAINSCOPE_INSTANTIATE(T)                                                                \
  template void batch_norm_train(Stream, const Image&, const T*, const float*, const float*,     \
                                 float, float*, T*, const BatchMoments&, const RunningMoments&); \
  template void batch_norm_evaluate(Stream, const Image&, const T*, const float*, const float*,  \
                                    float, T*, const BatchMoments&, const RunningMoments&);      \
  template void batch_norm_backward(Stream, const Image&, const T*, const float*, const T*,      \
                                    const BatchMoments&, float*, T*, float*, float*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
