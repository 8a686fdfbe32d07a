#include "kernels/accuracy.h"

#include "kernels/row_terms.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kWarps = 8;  // of a block: a row each at a time

// A value of a row and its column.
struct Candidate {
  float value = -INFINITY;
  std::size_t column = SIZE_MAX;

  // NaNs are largest; of equal ones the first wins.
  __device__ bool loses_to(const Candidate& other) const {
    const bool missing = value != value, other_missing = other.value != other.value;
    const bool equal = missing == other_missing && (missing || value == other.value);
    if (equal) return other.column < column;
    return other_missing || (!missing && other.value > value);
  }
};

// All lanes of the warp get it.
__device__ std::size_t largest(const float* row, std::size_t columns) {
  Candidate best;
  for (std::size_t c = threadIdx.x % kLanes; c < columns; c += kLanes) {
    const Candidate next{row[c], c};
    if (best.loses_to(next)) best = next;
  }
  for (int apart = kLanes / 2; apart > 0; apart /= 2) {
    const Candidate other{__shfl_xor_sync(kAllLanes, best.value, apart),
                          __shfl_xor_sync(kAllLanes, best.column, apart)};
    if (best.loses_to(other)) best = other;
  }
  return best.column;
}

std::size_t blocks_for(std::size_t rows) {
  constexpr std::size_t kMost = 1024;
  return std::clamp<std::size_t>((rows + kWarps - 1) / kWarps, 1, kMost);
}

// parts[b] is how many of block b's rows are right.
__global__ void count_correct_kernel(const float* x, const std::int64_t* targets, std::size_t rows,
                                     std::size_t columns, float* parts) {
  float own = 0;
  const std::size_t first = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
  for (std::size_t r = first; r < rows; r += std::size_t{gridDim.x} * kWarps) {
    if (targets[r] == kIgnoredTarget) continue;
    const std::size_t best = largest(x + r * columns, columns);
    own += static_cast<std::int64_t>(best) == targets[r] ? 1.0F : 0.0F;
  }
  const float total = block_sum(threadIdx.x % kLanes == 0 ? own : 0.0F);
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// One block, so that nothing else adds.
__global__ void add_correct_kernel(const float* parts, std::size_t count, float* correct) {
  const float total = total_of(parts, count);
  if (threadIdx.x == 0) *correct += total;
}

}  // namespace

std::size_t count_correct_workspace(std::size_t rows) {
  return blocks_for(rows);
}

void count_correct(Stream stream, const Matrix& shape, const float* x, const std::int64_t* targets,
                   float* workspace, float* correct) {
  if (shape.size() == 0) return;
  const std::size_t blocks = blocks_for(shape.rows);
  const Blocks threads{kWarps * kLanes, 1, 1};
  launch("count_correct", count_correct_kernel, stream,
         Shape{{static_cast<unsigned>(blocks), 1, 1}, threads}, x, targets, shape.rows,
         shape.columns, workspace);
  launch("count_correct", add_correct_kernel, stream, Shape{{1, 1, 1}, threads}, workspace, blocks,
         correct);
}

}  // namespace trainscope::kernels
