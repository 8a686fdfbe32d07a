#include "kernels/cross_entropy.h"

#include "kernels/block.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

// How many rows count. As a float it is exact up to 2^24 rows.
__global__ void count_targets_kernel(const std::int64_t* targets, std::size_t rows,
                                     float* counted) {
  float own = 0;
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x) {
    own += targets[r] == kIgnoredTarget ? 0.0F : 1.0F;
  }
  const float total = block_sum(own);
  if (threadIdx.x == 0) *counted = total;
}

// A block for a row. The row's loss is kept; its logits become gradients.
template <typename T>
__global__ void cross_entropy_kernel(std::size_t columns, T* logits, const std::int64_t* targets,
                                     const float* dloss, const float* counted, float* losses) {
  T* row = logits + blockIdx.x * columns;
  const std::int64_t target = targets[blockIdx.x];
  if (target == kIgnoredTarget) {
    map_row(columns, [](std::size_t) { return 0.0F; }, row);
    if (threadIdx.x == 0) losses[blockIdx.x] = 0;
    return;
  }
  if (target < 0 || target >= static_cast<std::int64_t>(columns)) __trap();
  const auto wanted = static_cast<std::size_t>(target);
  const float logit = widen(row[wanted]);

  float own = -INFINITY;
  for_row(columns, [&](std::size_t, float x) { own = Larger{}(own, x); }, row);
  const float maximum = block_max(own);
  own = 0;
  for_row(columns, [&](std::size_t, float x) { own += expf(x - maximum); }, row);
  const float logarithm = logf(block_sum(own));

  const float share = (dloss == nullptr ? 1.0F : *dloss) / *counted;
  const auto gradient = [&](std::size_t c, float x) {
    return (expf(x - maximum - logarithm) - (c == wanted ? 1.0F : 0.0F)) * share;
  };
  map_row(columns, gradient, row, row);
  if (threadIdx.x == 0) losses[blockIdx.x] = logarithm - (logit - maximum);
}

__global__ void mean_loss_kernel(const float* losses, std::size_t rows, const float* counted,
                                 float* loss) {
  float own = 0;
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x) own += losses[r];
  const float total = block_sum(own);
  if (threadIdx.x == 0) *loss = total / *counted;
}

}  // namespace

std::size_t cross_entropy_workspace(const Matrix& shape) {
  return shape.rows + 1;
}

template <typename T>
void cross_entropy(Stream stream, const Matrix& shape, T* logits, const std::int64_t* targets,
                   const float* dloss, float* workspace, float* loss) {
  float* losses = workspace;
  float* counted = workspace + shape.rows;
  const Shape one{{1, 1, 1}, {kThreads, 1, 1}};
  launch("count_targets", count_targets_kernel, stream, one, targets, shape.rows, counted);
  if (shape.rows != 0) {
    launch("cross_entropy", cross_entropy_kernel<T>, stream, shape_for_rows(shape), shape.columns,
           logits, targets, dloss, counted, losses);
  }
  launch("mean_loss", mean_loss_kernel, stream, one, losses, shape.rows, counted, loss);
}

template void cross_entropy(Stream, const Matrix&, float*, const std::int64_t*, const float*,
                            float*, float*);
template void cross_entropy(Stream, const Matrix&, Half*, const std::int64_t*, const float*, float*,
                            float*);
template void cross_entropy(Stream, const Matrix&, Bfloat16*, const std::int64_t*, const float*,
                            float*, float*);

}  // namespace trainscope::kernels
