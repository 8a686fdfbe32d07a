#include "kernels/norm_chain.h"

#include "kernels/chain.cuh"
#include "kernels/norms.cuh"

namespace trainscope::kernels {
namespace {

// Calls body(places, c) for the calling thread's values of the block's row, as layer_norm.h deals
// them: the first stands in column c. Packs are as wide as the launch says, so that a body, which
// is the whole chain, is compiled once and not for each width.
struct RowWalk {
  std::size_t columns;
  std::size_t pack;  // a multiple of kChainWidth
  bool packed;       // is_packed()

  template <typename Body>
  __device__ void operator()(const Body& body) const {
    const std::size_t first = blockIdx.x * columns;
    const std::size_t packs = first % pack == 0 ? columns / pack : 0;
    const std::size_t tail = packs * pack;
    for (std::size_t item = threadIdx.x; item < packs + columns - tail; item += blockDim.x) {
      const bool whole = item < packs;
      const std::size_t begin = whole ? item * pack : tail + (item - packs);
      const std::size_t end = begin + (whole ? pack : 1);
      const int count = whole ? kChainWidth : 1;
      for (std::size_t c = begin; c < end; c += kChainWidth)
        body(ChainPlaces{first + c, 1, count, packed && whole}, c);
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

// The column of value k of those whose first stands in column c.
__device__ std::size_t column_of(const ChainPlaces& at, std::size_t c, int k) {
  return c + (at.at(k) - at.first);
}

// The kernel of one block, norm by norm.
struct Block {
  const NormChain& all;
  const RowWalk& walk;
  ChainValues* registers;
  RowNormGradient found[kMostChainNorms];

  __device__ ChainValues values_of(const ChainPlaces& at, std::size_t c, int norm) const {
    const ChainNorm& one = all.norms[norm];
    const ChainValues x = registers[one.x];
    const ChainValues dy = registers[one.dy];
    return chain_values([&](int k) {
      return value_of(one, found[norm], column_of(at, c, k), x.values[k], dy.values[k]);
    });
  }

  // Values up to what norm `last` reads, or to their end.
  __device__ TRAINSCOPE_OUT_OF_LINE void run(const ChainPlaces& at, std::size_t c, int last) const {
    load_all(all.chain, at, registers);
    int done = 0;
    for (int k = 0; k < all.norm_count; ++k) {
      const ChainNorm& norm = all.norms[k];
      run_steps(all.chain, done, norm.before, at, registers);
      done = norm.before;
      if (k == last) return;
      registers[norm.result] = rounded(norm.type, values_of(at, c, k));
    }
    run_steps(all.chain, done, all.chain.step_count, at, registers);
  }

  __device__ RowNormGradient of_forward(int k) const {
    const ChainNorm& norm = all.norms[k];
    const auto each = [&](const auto& take) {
      walk([&](const ChainPlaces& at, std::size_t c) {
        run(at, c, k);
        for (int n = 0; n < at.count; ++n) take(registers[norm.x].values[n]);
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
      walk([&](const ChainPlaces& at, std::size_t c) {
        run(at, c, k);
        const ChainValues x = registers[norm.x];
        const ChainValues dy = registers[norm.dy];
        for (int n = 0; n < at.count; ++n) take(x.values[n], dy.values[n] * norm.gamma[c + n]);
      });
    };
    return row_norm_gradient(mean, rstd, walk.count(), block_gradient_sums(mean, rstd, each));
  }

  __device__ void operator()() {
    for (int k = 0; k < all.norm_count; ++k) {
      found[k] = all.norms[k].kind == NormKind::kInputGradient ? of_gradient(k) : of_forward(k);
    }
    walk([&](const ChainPlaces& at, std::size_t c) {
      run(at, c, all.norm_count);
      store_all(all.chain, at, registers);
    });
  }
};

__global__ void __launch_bounds__(kMostRowThreads, 3)
    norm_chain_kernel(const __grid_constant__ NormChain chain,
                      const __grid_constant__ RowWalk walk) {
  ChainValues registers[kChainRegisters];
  Block{chain, walk, registers, {}}();
}

}  // namespace

void run_norm_chain(Stream stream, const NormChain& chain) {
  if (chain.chain.values == 0) return;
  const std::size_t pack = chain.type == NumberType::kFp32 ? kPackOf<float> : kPackOf<Half>;
  launch("norm_chain", norm_chain_kernel, stream, shape_for_rows(chain.rows), chain,
         RowWalk{chain.rows.columns, pack, is_packed(chain.chain)});
}

}  // namespace trainscope::kernels
