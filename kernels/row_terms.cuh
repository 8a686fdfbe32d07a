// Sums of a number for each row: by blocks that each take a part of the rows, then by one that adds
// the parts, in an order that depends on the number of rows alone.
#pragma once

#include <algorithm>

#include "kernels/block.cuh"

namespace trainscope::kernels {

inline constexpr std::size_t kRowTermThreads = 256;

// Parts that `rows` are cut into: floats of room to work in.
inline std::size_t row_term_parts(std::size_t rows) {
  constexpr std::size_t kEach = 4 * kRowTermThreads;
  constexpr std::size_t kMost = 1024;
  return std::clamp<std::size_t>((rows + kEach - 1) / kEach, 1, kMost);
}

// parts[b] = Σ term(r) over the rows that block b has.
template <typename Term>
__global__ void row_terms_kernel(Term term, std::size_t rows, float* parts) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  float own = 0;
  for (std::size_t r = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += step) {
    own += term(r);
  }
  const float total = block_sum(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

template <typename Term>
void sum_row_terms(const char* name, Stream stream, std::size_t rows, const Term& term,
                   float* parts) {
  const auto blocks = static_cast<unsigned>(row_term_parts(rows));
  launch(name, row_terms_kernel<Term>, stream,
         Shape{{blocks, 1, 1}, {static_cast<unsigned>(kRowTermThreads), 1, 1}}, term, rows, parts);
}

// Every thread of the block gets the sum of the parts.
inline __device__ float total_of(const float* parts, std::size_t count) {
  float own = 0;
  for (std::size_t p = threadIdx.x; p < count; p += blockDim.x) own += parts[p];
  return block_sum(own);
}

}  // namespace trainscope::kernels
