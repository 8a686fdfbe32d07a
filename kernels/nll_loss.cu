#include "kernels/nll_loss.h"

#include "kernels/block.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

__device__ bool counts(std::int64_t target, std::size_t columns) {
  if (target == kIgnoredTarget) return false;
  if (target < 0 || target >= static_cast<std::int64_t>(columns)) __trap();
  return true;
}

// One block. As floats, numbers of rows are exact up to 2^24.
__global__ void nll_loss_kernel(const float* log_p, const std::int64_t* targets, std::size_t rows,
                                std::size_t columns, float* loss) {
  float sum = 0;
  float counted = 0;
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x) {
    if (!counts(targets[r], columns)) continue;
    sum += log_p[r * columns + static_cast<std::size_t>(targets[r])];
    counted += 1;
  }
  const float total = block_sum(sum);
  const float all = block_sum(counted);
  if (threadIdx.x == 0) *loss = -total / all;
}

__global__ void counted_rows_kernel(const std::int64_t* targets, std::size_t rows,
                                    std::size_t columns, float* counted) {
  float own = 0;
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x) {
    own += counts(targets[r], columns) ? 1.0F : 0.0F;
  }
  const float total = block_sum(own);
  if (threadIdx.x == 0) *counted = total;
}

struct LossGradient {
  const std::int64_t* targets;
  std::size_t columns;
  const float* dloss;
  const float* counted;

  __device__ float operator()(std::size_t i) const {
    const std::int64_t target = targets[i / columns];
    const bool wanted = target == static_cast<std::int64_t>(i % columns);
    return wanted ? -*dloss / *counted : 0.0F;
  }
};

Shape one_block() {
  return {{1, 1, 1}, {kThreads, 1, 1}};
}

}  // namespace

void nll_loss_forward(Stream stream, const Matrix& shape, const float* log_p,
                      const std::int64_t* targets, float* loss) {
  launch("nll_loss_forward", nll_loss_kernel, stream, one_block(), log_p, targets, shape.rows,
         shape.columns, loss);
}

void nll_loss_backward(Stream stream, const Matrix& shape, const std::int64_t* targets,
                       const float* dloss, float* counted, float* dlog_p) {
  launch("counted_rows", counted_rows_kernel, stream, one_block(), targets, shape.rows,
         shape.columns, counted);
  map("nll_loss_backward", stream, LossGradient{targets, shape.columns, dloss, counted},
      shape.size(), dlog_p);
}

}  // namespace trainscope::kernels
