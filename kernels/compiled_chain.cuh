// What a kernel is compiled from that was written for one chain's form: its text states the form as
// constants and has entries that call these.
#pragma once

#include "kernels/column_chain.cuh"
#include "kernels/map.cuh"
#include "kernels/norm_chain.cuh"

// The beginning of an entry, that is found by its name. Emulated, several texts are one program's.
#ifdef TRAINSCOPE_EMULATED
#define TRAINSCOPE_ENTRY(threads, blocks) static __global__ void
#else
#define TRAINSCOPE_ENTRY(threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks)
#endif

namespace trainscope::kernels {

// The entry "chain".
template <const Chain& kForm, int kWidth>
__device__ __forceinline__ void compiled_chain(const Chain& chain, bool packed) {
  const KnownSteps<kForm> steps{chain};
  const std::size_t packs = packed ? chain.values / kWidth : 0;
  for_items<kWidth>(first_item(), item_step(), chain.values, packs, [&](auto width, std::size_t i) {
    constexpr int kCount = decltype(width)::kValues;
    ChainValues<kCount> registers[kChainRegisters];
    const ChainPlaces<kCount> at{i, 1, kCount, kCount > 1};
    run_values(steps, at, registers);
  });
}

// "norm_chain", where each thread has one whole pack of the row at most.
template <const NormChain& kForm, const Chain& kSteps, int kWidth>
__device__ __forceinline__ void compiled_norm_chain(const NormChain& chain, const NormWalk& walk) {
  const KnownNorms<kForm, kSteps, kWidth> norms{chain};
  NormBlock<KnownNorms<kForm, kSteps, kWidth>>{norms, walk, {}}.run_at_once();
}

// "norm_chain_in_walks", for any row.
template <const NormChain& kForm, const Chain& kSteps, int kWidth>
__device__ __forceinline__ void compiled_norm_walks(const NormChain& chain, const NormWalk& walk) {
  const KnownNorms<kForm, kSteps, kWidth> norms{chain};
  NormBlock<KnownNorms<kForm, kSteps, kWidth>>{norms, walk, {}}.run_in_walks();
}

// "column_chain", where the sums are whole.
template <const Chain& kForm, int kSummed, int kWidth, const Chain& kSums>
__device__ __forceinline__ void compiled_column_chain(const ChainTerm& term,
                                                      const ColumnShape& shape,
                                                      const ChainOfSums& sums) {
  sum_part(KnownTerm<kForm, kSummed, kWidth>{term}, shape, KnownOfSums<kSums>{sums});
}

// "column_chain_parts", and "column_chain_sums" that adds them up.
template <const Chain& kForm, int kSummed, int kWidth>
__device__ __forceinline__ void compiled_column_parts(const ChainTerm& term,
                                                      const ColumnShape& shape,
                                                      const KeepPart& keep) {
  sum_part(KnownTerm<kForm, kSummed, kWidth>{term}, shape, keep);
}

template <const Chain& kSums>
__device__ __forceinline__ void compiled_column_sums(const PartSums& of, const ChainOfSums& sums) {
  add_parts<1>(of, KnownOfSums<kSums>{sums});
}

}  // namespace trainscope::kernels
