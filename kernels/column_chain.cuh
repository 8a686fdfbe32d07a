// The terms of a chain's sums, and what becomes of the sums: from one source for kernels that read
// the chain's form and for kernels that were compiled for it (chain_form.cuh).
#pragma once

#include "kernels/chain.cuh"
#include "kernels/column_chain.h"
#include "kernels/column_sums.cuh"

namespace trainscope::kernels {

// Each value is one term, and so is computed and written once.
struct ChainTerm {
  Chain chain;
  std::size_t columns;
  std::uint8_t summed;

  using Values = ColumnValues<1>;
};

struct ChainOfSums {
  Chain chain;

  __device__ void operator()(std::size_t c, const ColumnValues<1>& sum) const {
    ChainValues<kReadWidth> registers[kChainRegisters];
    registers[0] = chain_values<kReadWidth>([&](int) { return sum.values[0]; });
    run_values(ReadSteps{chain}, ChainPlaces<kReadWidth>{c, 1, 1}, registers);
  }
};

// Adds the register `summed` of those values of column c that `at` has.
template <typename Steps, int kWidth>
__device__ __forceinline__ void add_rows(const Steps& steps, int summed,
                                         const ChainPlaces<kWidth>& at, float& own) {
  ChainValues<kWidth> registers[kChainRegisters];
  run_values(steps, at, registers);
  const ChainValues<kWidth> terms = registers[summed];
  for (int k = 0; k < at.count; ++k) own += terms.values[k];
}

// Several rows at once.
inline __device__ void add_terms(const ChainTerm& term, const ColumnRows& rows, std::size_t c,
                                 ColumnValues<1>& own) {
  for (std::size_t row = rows.begin; row < rows.end; row += rows.apart * kReadWidth) {
    const std::size_t left = (rows.end - row + rows.apart - 1) / rows.apart;
    const int count = left < kReadWidth ? static_cast<int>(left) : kReadWidth;
    const ChainPlaces<kReadWidth> at{row * term.columns + c, rows.apart * term.columns, count};
    add_rows(ReadSteps{term.chain}, term.summed, at, own.values[0]);
  }
}

template <const Chain& kForm, int kSummed, int kLanes>
struct KnownTerm {
  const ChainTerm& term;

  using Values = ColumnValues<1>;
};

// Whole groups of rows, then row by row.
template <const Chain& kForm, int kSummed, int kLanes>
__device__ __forceinline__ void add_terms(const KnownTerm<kForm, kSummed, kLanes>& known,
                                          const ColumnRows& rows, std::size_t c,
                                          ColumnValues<1>& own) {
  const KnownSteps<kForm> steps{known.term.chain};
  const std::size_t columns = known.term.columns, apart = rows.apart * columns;
  std::size_t row = rows.begin;
  for (; row + (kLanes - 1) * rows.apart < rows.end; row += kLanes * rows.apart)
    add_rows(steps, kSummed, ChainPlaces<kLanes>{row * columns + c, apart}, own.values[0]);
  TRAINSCOPE_ONE_AT_A_TIME
  for (; row < rows.end; row += rows.apart)
    add_rows(steps, kSummed, ChainPlaces<1>{row * columns + c, apart}, own.values[0]);
}

template <const Chain& kForm>
struct KnownOfSums {
  const ChainOfSums& sums;

  __device__ __forceinline__ void operator()(std::size_t c, const ColumnValues<1>& sum) const {
    ChainValues<1> registers[kChainRegisters];
    registers[0].values[0] = sum.values[0];
    run_values(KnownSteps<kForm>{sums.chain}, ChainPlaces<1>{c}, registers);
  }
};

}  // namespace trainscope::kernels
