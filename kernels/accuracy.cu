#include "kernels/accuracy.h"

#include "kernels/block.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

__device__ std::size_t largest(const float* row, std::size_t columns) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < columns && row[best] == row[best]; ++c) {
    if (row[c] > row[best] || row[c] != row[c]) best = c;
  }
  return best;
}

// One block, so that the order of the sum is fixed and nothing else adds.
__global__ void count_correct_kernel(const float* x, const std::int64_t* targets, std::size_t rows,
                                     std::size_t columns, float* correct) {
  float own = 0;
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x) {
    if (targets[r] == kIgnoredTarget) continue;
    const std::size_t best = largest(x + r * columns, columns);
    own += static_cast<std::int64_t>(best) == targets[r] ? 1.0F : 0.0F;
  }
  const float total = block_sum(own);
  if (threadIdx.x == 0) *correct += total;
}

}  // namespace

void count_correct(Stream stream, const Matrix& shape, const float* x, const std::int64_t* targets,
                   float* correct) {
  if (shape.size() == 0) return;
  launch("count_correct", count_correct_kernel, stream, Shape{{1, 1, 1}, {kThreads, 1, 1}}, x,
         targets, shape.rows, shape.columns, correct);
}

}  // namespace trainscope::kernels
