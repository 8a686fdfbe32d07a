// The kernel of a chain with norms, norm by norm: from one source for kernels that read its form
// and for kernels that were compiled for it (chain_form.cuh).
#pragma once

#include "kernels/chain.cuh"
#include "kernels/norm_chain.h"
#include "kernels/norms.cuh"

namespace trainscope::kernels {

struct ReadNorms {
  static constexpr bool kAreKnown = false;
  static constexpr int kWidth = kReadWidth;
  const NormChain& all;

  __device__ ReadSteps steps() const { return {all.chain}; }
  __device__ int count() const { return all.norm_count; }
  __device__ NormKind kind(int k) const { return all.norms[k].kind; }
  __device__ NumberType type(int k) const { return all.norms[k].type; }
  __device__ int before(int k) const { return all.norms[k].before; }
  __device__ const ChainNorm& form(int k) const { return all.norms[k]; }
};

// The steps' form stands by itself, since it is named.
template <const NormChain& kForm, const Chain& kSteps, int kLanes>
struct KnownNorms {
  static constexpr bool kAreKnown = true;
  static constexpr int kWidth = kLanes;
  const NormChain& all;

  __device__ KnownSteps<kSteps> steps() const { return {all.chain}; }
  static constexpr __device__ auto count() { return Known<kForm.norm_count>{}; }
  template <int k>
  static constexpr __device__ auto kind(Known<k>) {
    return Known<kForm.norms[k].kind>{};
  }
  template <int k>
  static constexpr __device__ auto type(Known<k>) {
    return Known<kForm.norms[k].type>{};
  }
  template <int k>
  static constexpr __device__ auto before(Known<k>) {
    return Known<kForm.norms[k].before>{};
  }
  template <int k>
  static constexpr __device__ const ChainNorm& form(Known<k>) {
    return kForm.norms[k];
  }
};

// A block's row, as layer_norm.h deals it to threads: in packs, and value by value behind them, or
// where the row begins within one.
struct NormWalk {
  std::size_t columns;
  std::size_t pack;  // a multiple of kReadWidth; what was compiled has it as its width
  bool packed;       // is_packed(), also of the norms' gamma and beta

  __device__ std::size_t first() const { return blockIdx.x * columns; }
  __device__ std::size_t packs() const { return first() % pack == 0 ? columns / pack : 0; }
  __device__ float count() const { return static_cast<float>(columns); }
};

// Calls body(places, c) for the calling thread's values: the first stands in column c. The body is
// the whole chain: it is compiled once, and not for each width.
template <typename Body>
__device__ __forceinline__ void walk_reading(const NormWalk& walk, const Body& body) {
  const std::size_t first = walk.first(), packs = walk.packs();
  const std::size_t tail = packs * walk.pack;
  for (std::size_t item = threadIdx.x; item < packs + walk.columns - tail; item += blockDim.x) {
    const bool whole = item < packs;
    const std::size_t begin = whole ? item * walk.pack : tail + (item - packs);
    const std::size_t end = begin + (whole ? walk.pack : 1);
    const int count = whole ? kReadWidth : 1;
    for (std::size_t c = begin; c < end; c += kReadWidth)
      body(ChainPlaces<kReadWidth>{first + c, 1, count, walk.packed && whole}, c);
  }
}

// Likewise, the body being compiled for whole packs and for single values.
template <int kWidth, typename Body>
__device__ __forceinline__ void walk_known(const NormWalk& walk, const Body& body) {
  const std::size_t first = walk.first(), packs = walk.packs();
  const std::size_t tail = packs * kWidth;
  const std::size_t whole = walk.packed ? packs : 0;
  for (std::size_t item = threadIdx.x; item < whole; item += blockDim.x)
    body(ChainPlaces<kWidth>{first + item * kWidth, 1, kWidth, true}, item * kWidth);
  if (whole * kWidth == walk.columns) return;
  for (std::size_t item = threadIdx.x; item < packs + walk.columns - tail; item += blockDim.x) {
    if (item < whole) continue;
    const std::size_t begin = item < packs ? item * kWidth : tail + (item - packs);
    const std::size_t end = begin + (item < packs ? kWidth : 1);
    TRAINSCOPE_ONE_AT_A_TIME
    for (std::size_t c = begin; c < end; ++c) body(ChainPlaces<1>{first + c, 1, 1, false}, c);
  }
}

// Of the columns of values whose first stands in column c.
template <int kWidth>
__device__ __forceinline__ ChainValues<kWidth> of_columns(const float* numbers,
                                                          const ChainPlaces<kWidth>& at,
                                                          std::size_t c) {
  if (at.packed) return load_pack<kWidth>(numbers + c);
  return chain_values<kWidth>([&](int k) { return numbers[c + (at.at(k) - at.first)]; });
}

// The kernel of one block.
template <typename Norms>
struct NormBlock {
  const Norms& norms;
  const NormWalk& walk;
  RowNormGradient found[kMostChainNorms];

  __device__ const ChainNorm& norm(int k) const { return norms.all.norms[k]; }

  // The first step behind the norms before norm k, and behind the last that comes before it.
  template <typename K>
  __device__ auto first_step(K k) const {
    if constexpr (!Norms::kAreKnown) {
      return k == 0 ? 0 : norms.before(k - 1);
    } else if constexpr (K::kIs == 0) {
      return Known<0>{};
    } else {
      return norms.before(Known<K::kIs - 1>{});
    }
  }
  template <typename K>
  __device__ auto last_step(K k) const {
    if constexpr (!Norms::kAreKnown) {
      return k == norms.count() ? norms.steps().steps() : norms.before(k);
    } else if constexpr (K::kIs == Norms::count()) {
      return norms.steps().steps();
    } else {
      return norms.before(k);
    }
  }

  template <typename Body>
  __device__ __forceinline__ void for_row(const Body& body) const {
    if constexpr (Norms::kAreKnown) {
      walk_known<Norms::kWidth>(walk, body);
    } else {
      walk_reading(walk, body);
    }
  }

  template <typename K, int kWidth>
  __device__ __forceinline__ void put_norm(const ChainPlaces<kWidth>& at, std::size_t c, K k,
                                           ChainValues<kWidth>* registers) const {
    const ChainNorm& one = norms.form(k);
    const ChainValues<kWidth> x = registers[one.x];
    const ChainValues<kWidth> dy = registers[one.dy];
    const ChainValues<kWidth> gamma = of_columns(norm(k).gamma, at, c);
    ChainValues<kWidth> y;
    if (norms.kind(k) == NormKind::kInputGradient) {
      y = chain_values<kWidth>(
          [&](int n) { return found[k](x.values[n], dy.values[n], gamma.values[n]); });
    } else {
      const ChainValues<kWidth> beta = of_columns(norm(k).beta, at, c);
      const RowNorm norm{found[k].mean, found[k].rstd};
      y = chain_values<kWidth>(
          [&](int n) { return norm(x.values[n], gamma.values[n], beta.values[n]); });
    }
    registers[one.result] = rounded(norms.type(k), y);
  }

  // The steps up to what norm `k` reads, those before the norm ahead of it being done.
  template <typename K, int kWidth>
  __device__ __forceinline__ void run_up_to(K k, const ChainPlaces<kWidth>& at,
                                            ChainValues<kWidth>* registers) const {
    run_steps(norms.steps(), first_step(k), last_step(k), at, registers);
  }

  // Values up to what norm `last` reads, or to their end.
  template <typename Last, int kWidth>
  __device__ __forceinline__ void run(const ChainPlaces<kWidth>& at, std::size_t c, Last last,
                                      ChainValues<kWidth>* registers) const {
    load_all(norms.steps(), at, registers);
    for_each(Known<0>{}, last, [&](auto k) {
      run_up_to(k, at, registers);
      put_norm(at, c, k, registers);
    });
    run_up_to(last, at, registers);
  }

  template <int kWidth>
  __device__ TRAINSCOPE_OUT_OF_LINE void run_called(const ChainPlaces<kWidth>& at, std::size_t c,
                                                    int last,
                                                    ChainValues<kWidth>* registers) const {
    run(at, c, last, registers);
  }

  // body(places, c, registers) once they have what norm `last` reads.
  template <typename Last, typename Body>
  __device__ __forceinline__ void for_values(Last last, const Body& body) const {
    for_row([&]<int kWidth>(const ChainPlaces<kWidth>& at, std::size_t c) {
      ChainValues<kWidth> registers[kChainRegisters];
      if constexpr (Norms::kAreKnown) {
        run(at, c, last, registers);
      } else {
        run_called(at, c, last, registers);
      }
      body(at, c, registers);
    });
  }

  // One norm's sums over the row: each(body) calls body(places, c, registers) for all values.
  template <typename K, typename Each>
  __device__ __forceinline__ RowNormGradient of_forward(K k, const Each& each) const {
    const auto values = [&](const auto& take) {
      each([&](const auto& at, std::size_t, const auto* registers) {
        for (int n = 0; n < at.count; ++n) take(registers[norms.form(k).x].values[n]);
      });
    };
    const Moments row = block_moments(walk.count(), norm(k).eps, values);
    if (threadIdx.x == 0 && norm(k).mean != nullptr) norm(k).mean[blockIdx.x] = row.mean;
    if (threadIdx.x == 0 && norm(k).rstd != nullptr) norm(k).rstd[blockIdx.x] = row.rstd;
    return {row.mean, row.rstd, 0, 0};
  }

  template <typename K, typename Each>
  __device__ __forceinline__ RowNormGradient of_gradient(K k, const Each& each) const {
    const float mean = norm(k).mean[blockIdx.x];
    const float rstd = norm(k).rstd[blockIdx.x];
    const auto values = [&](const auto& take) {
      each([&](const auto& at, std::size_t c, const auto* registers) {
        const auto x = registers[norms.form(k).x];
        const auto dy = registers[norms.form(k).dy];
        const auto gamma = of_columns(norm(k).gamma, at, c);
        for (int n = 0; n < at.count; ++n)
          take(x.values[n], __fmul_rn(dy.values[n], gamma.values[n]));
      });
    };
    return row_norm_gradient(mean, rstd, walk.count(), block_gradient_sums(mean, rstd, values));
  }

  template <typename K, typename Each>
  __device__ __forceinline__ void find(K k, const Each& each) {
    const auto kind = norms.kind(k);
    if constexpr (!Norms::kAreKnown) {
      found[k] = kind == NormKind::kInputGradient ? of_gradient(k, each) : of_forward(k, each);
    } else if constexpr (decltype(kind)::kIs == NormKind::kInputGradient) {
      found[k] = of_gradient(k, each);
    } else {
      found[k] = of_forward(k, each);
    }
  }

  // The row once for each sum, and once to write.
  __device__ __forceinline__ void run_in_walks() {
    for_each(Known<0>{}, norms.count(),
             [&](auto k) { find(k, [&](const auto& body) { for_values(k, body); }); });
    for_values(norms.count(), [&](const auto& at, std::size_t, const auto* registers) {
      store_all(norms.steps(), at, registers);
    });
  }

  // Each thread has one pack at most: it stays in the thread's registers from the first step to the
  // last.
  __device__ __forceinline__ void run_at_once() {
    constexpr int kWidth = Norms::kWidth;
    ChainValues<kWidth> registers[kChainRegisters];
    const std::size_t c = threadIdx.x * std::size_t{kWidth};
    const ChainPlaces<kWidth> at{walk.first() + c, 1, kWidth, true};
    const bool has = c < walk.columns;
    if (has) load_all(norms.steps(), at, registers);
    for_each(Known<0>{}, norms.count(), [&](auto k) {
      if (has) run_up_to(k, at, registers);
      find(k, [&](const auto& body) {
        if (has) body(at, c, registers);
      });
      if (has) put_norm(at, c, k, registers);
    });
    if (!has) return;
    run_up_to(norms.count(), at, registers);
    store_all(norms.steps(), at, registers);
  }
};

// Where rows are packed, the numbers of their columns are, too.
inline bool is_packed(const NormChain& chain, int width) {
  for (int k = 0; k < chain.norm_count; ++k) {
    const ChainNorm& norm = chain.norms[k];
    if (!is_aligned(norm.gamma) || !is_aligned(norm.beta)) return false;
  }
  return is_packed(chain.chain, width);
}

}  // namespace trainscope::kernels
