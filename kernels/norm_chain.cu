#include "kernels/norm_chain.h"

#include "kernels/chain.cuh"
#include "kernels/norms.cuh"

namespace trainscope::kernels {
namespace {

// Calls body(i, c) for the calling thread's values of the block's row, as layer_norm.h deals them:
// value i stands in column c. Packs are as wide as the launch says, so that a body, which is the
// whole chain, is compiled once and not for each value of a pack.
struct RowWalk {
  std::size_t columns;
  std::size_t pack;

  template <typename Body>
  __device__ void operator()(const Body& body) const {
    const std::size_t first = blockIdx.x * columns;
    const std::size_t packs = first % pack == 0 ? columns / pack : 0;
    const std::size_t tail = packs * pack;
    for (std::size_t item = threadIdx.x; item < packs + columns - tail; item += blockDim.x) {
      const bool whole = item < packs;
      const std::size_t begin = whole ? item * pack : tail + (item - packs);
      const std::size_t end = begin + (whole ? pack : 1);
      for (std::size_t c = begin; c < end; ++c) body(first + c, c);
    }
  }
  __device__ float count() const { return static_cast<float>(columns); }
};

// The same of the block's channel, which c is.
struct ChannelWalk {
  Image image;

  template <typename Body>
  __device__ void operator()(const Body& body) const {
    const auto channel = static_cast<int>(blockIdx.x);
    for_channel(image, channel, [&](std::size_t i) { body(i, blockIdx.x); });
  }
  __device__ float count() const {
    return static_cast<float>(image.batch) * static_cast<float>(image.pixels());
  }
};

// What a norm has found in the block's row or channel: of what its formula consists.
struct Found {
  float mean;
  float slope;  // or rstd
  float third;  // the mean gradient, or β
  float last;   // that with x̂, or γ rstd
};

__device__ float value_of(const ChainNorm& norm, const Found& found, std::size_t c, float x,
                          float dy) {
  switch (norm.kind) {
    case NormKind::kRows:
      return RowNorm{found.mean, found.slope}(x, norm.gamma[c], norm.beta[c]);
    case NormKind::kRowsGradient:
      return RowNormGradient{found.mean, found.slope, found.third, found.last}(x, dy,
                                                                               norm.gamma[c]);
    case NormKind::kChannelsGradient:
      return ChannelNormGradient{found.mean, found.slope, found.third, found.last}(x, dy);
    default:
      return ChannelNorm{found.mean, found.slope, found.third}(x);
  }
}

// The kernel of one block, norm by norm.
template <typename Walk>
struct Block {
  const NormChain& all;
  const Walk& walk;
  float* registers;
  Found found[kMostChainNorms];

  // Value i up to what norm `last` reads, or to its end.
  __device__ void run(std::size_t i, std::size_t c, int last) const {
    load_all(all.chain, i, registers);
    int done = 0;
    for (int k = 0; k < all.norm_count; ++k) {
      const ChainNorm& norm = all.norms[k];
      run_steps(all.chain, done, norm.before, i, registers);
      done = norm.before;
      if (k == last) return;
      registers[norm.result] =
          rounded(norm.type, value_of(norm, found[k], c, registers[norm.x], registers[norm.dy]));
    }
    run_steps(all.chain, done, all.chain.step_count, i, registers);
  }

  __device__ Moments moments(int k) const {
    const ChainNorm& norm = all.norms[k];
    const auto each = [&](const auto& take) {
      walk([&](std::size_t i, std::size_t c) {
        run(i, c, k);
        take(registers[norm.x]);
      });
    };
    const Moments batch = block_moments(walk.count(), norm.eps, each);
    if (threadIdx.x == 0 && norm.kind == NormKind::kChannels)
      update_running(norm.running, blockIdx.x, walk.count(), batch);
    return batch;
  }

  __device__ Moments kept_moments(int k) const {
    const RunningMoments& running = all.norms[k].running;
    return {running.mean[blockIdx.x], 0,
            1 / sqrtf(running.variance[blockIdx.x] + all.norms[k].eps)};
  }

  __device__ GradientSums gradient_sums(int k, float mean, float rstd) const {
    const ChainNorm& norm = all.norms[k];
    const auto each = [&](const auto& take) {
      walk([&](std::size_t i, std::size_t c) {
        run(i, c, k);
        const float dy = registers[norm.dy];
        const bool of_rows = norm.kind == NormKind::kRowsGradient;
        take(registers[norm.x], of_rows ? dy * norm.gamma[c] : dy);
      });
    };
    return block_gradient_sums(mean, rstd, each);
  }

  __device__ Found of_forward(int k) const {
    const ChainNorm& norm = all.norms[k];
    const Moments of = norm.kind == NormKind::kChannelsKept ? kept_moments(k) : moments(k);
    if (threadIdx.x == 0 && norm.mean != nullptr) norm.mean[blockIdx.x] = of.mean;
    if (threadIdx.x == 0 && norm.rstd != nullptr) norm.rstd[blockIdx.x] = of.rstd;
    if (norm.kind == NormKind::kRows) return {of.mean, of.rstd, 0, 0};
    return {of.mean, of.rstd * norm.gamma[blockIdx.x], norm.beta[blockIdx.x], 0};
  }

  __device__ Found of_gradient(int k) const {
    const ChainNorm& norm = all.norms[k];
    const float mean = norm.mean[blockIdx.x];
    const float rstd = norm.rstd[blockIdx.x];
    const GradientSums sums = gradient_sums(k, mean, rstd);
    if (norm.kind == NormKind::kRowsGradient) {
      const RowNormGradient row = row_norm_gradient(mean, rstd, walk.count(), sums);
      return {row.mean, row.rstd, row.mean_g, row.mean_gx};
    }
    if (threadIdx.x == 0 && norm.dgamma != nullptr) norm.dgamma[blockIdx.x] = sums.with_x;
    if (threadIdx.x == 0 && norm.dbeta != nullptr) norm.dbeta[blockIdx.x] = sums.plain;
    const ChannelNormGradient channel =
        channel_norm_gradient(mean, rstd, norm.gamma[blockIdx.x], walk.count(), sums);
    return {channel.mean, channel.slope, channel.mean_dy, channel.factor};
  }

  __device__ void operator()() {
    for (int k = 0; k < all.norm_count; ++k) {
      const NormKind kind = all.norms[k].kind;
      const bool gradient = kind == NormKind::kRowsGradient || kind == NormKind::kChannelsGradient;
      found[k] = gradient ? of_gradient(k) : of_forward(k);
    }
    walk([&](std::size_t i, std::size_t c) {
      run(i, c, all.norm_count);
      store_all(all.chain, i, registers);
    });
  }
};

template <typename Walk>
__global__ void norm_chain_kernel(const __grid_constant__ NormChain chain,
                                  const __grid_constant__ Walk walk) {
  float registers[kChainRegisters] = {};
  Block<Walk>{chain, walk, registers, {}}();
}

}  // namespace

void run_norm_chain(Stream stream, const NormChain& chain) {
  if (chain.chain.values == 0) return;
  const auto run = [&](const Shape& shape, const auto& walk) {
    launch("norm_chain", norm_chain_kernel<std::decay_t<decltype(walk)>>, stream, shape, chain,
           walk);
  };
  if (!chain.of_rows) return run(shape_for_channels(chain.image), ChannelWalk{chain.image});
  const std::size_t pack = chain.rows_type == NumberType::kFp32 ? kPackOf<float> : kPackOf<Half>;
  run(shape_for_rows(chain.rows), RowWalk{chain.rows.columns, pack});
}

}  // namespace trainscope::kernels
