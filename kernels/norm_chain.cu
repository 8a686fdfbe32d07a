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

// `found`: of a norm its moments alone.
__device__ float value_of(const ChainNorm& norm, const RowNormGradient& found, std::size_t c,
                          float x, float dy) {
  const float gamma = norm.gamma[c];
  if (norm.kind == NormKind::kInputGradient) return found(x, dy, gamma);
  return RowNorm{found.mean, found.rstd}(x, gamma, norm.beta[c]);
}

// The kernel of one block, norm by norm.
struct Block {
  const NormChain& all;
  const RowWalk& walk;
  float* registers;
  RowNormGradient found[kMostChainNorms];

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

  __device__ RowNormGradient of_forward(int k) const {
    const ChainNorm& norm = all.norms[k];
    const auto each = [&](const auto& take) {
      walk([&](std::size_t i, std::size_t c) {
        run(i, c, k);
        take(registers[norm.x]);
      });
    };
    const Moments row = block_moments(walk.count(), norm.eps, each);
    if (threadIdx.x == 0 && norm.mean != nullptr) norm.mean[blockIdx.x] = row.mean;
    if (threadIdx.x == 0 && norm.rstd != nullptr) norm.rstd[blockIdx.x] = row.rstd;
    return {row.mean, row.rstd, 0, 0};
  }

  __device__ RowNormGradient of_gradient(int k) const {
    const ChainNorm& norm = all.norms[k];
    const float mean = norm.mean[blockIdx.x];
    const float rstd = norm.rstd[blockIdx.x];
    const auto each = [&](const auto& take) {
      walk([&](std::size_t i, std::size_t c) {
        run(i, c, k);
        take(registers[norm.x], registers[norm.dy] * norm.gamma[c]);
      });
    };
    return row_norm_gradient(mean, rstd, walk.count(), block_gradient_sums(mean, rstd, each));
  }

  __device__ void operator()() {
    for (int k = 0; k < all.norm_count; ++k) {
      found[k] = all.norms[k].kind == NormKind::kInputGradient ? of_gradient(k) : of_forward(k);
    }
    walk([&](std::size_t i, std::size_t c) {
      run(i, c, all.norm_count);
      store_all(all.chain, i, registers);
    });
  }
};

__global__ void norm_chain_kernel(const __grid_constant__ NormChain chain,
                                  const __grid_constant__ RowWalk walk) {
  float registers[kChainRegisters] = {};
  Block{chain, walk, registers, {}}();
}

}  // namespace

void run_norm_chain(Stream stream, const NormChain& chain) {
  if (chain.chain.values == 0) return;
  const std::size_t pack = chain.type == NumberType::kFp32 ? kPackOf<float> : kPackOf<Half>;
  launch("norm_chain", norm_chain_kernel, stream, shape_for_rows(chain.rows), chain,
         RowWalk{chain.rows.columns, pack});
}

}  // namespace trainscope::kernels
