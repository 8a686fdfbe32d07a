#include "kernels/log_softmax.h"

#include "kernels/block.cuh"

namespace trainscope::kernels {
namespace {

// A block for a row.
__global__ void log_softmax_forward_kernel(std::size_t columns, const float* x, float* y) {
  const float* row = x + blockIdx.x * columns;
  float own = -INFINITY;
  for_row(columns, [&](std::size_t, float value) { own = Larger{}(own, value); }, row);
  const float maximum = block_max(own);
  own = 0;
  for_row(columns, [&](std::size_t, float value) { own += expf(value - maximum); }, row);
  const float logarithm = logf(block_sum(own));
  const auto result = [&](std::size_t, float value) { return value - maximum - logarithm; };
  map_row(columns, result, y + blockIdx.x * columns, row);
}

__global__ void log_softmax_backward_kernel(std::size_t columns, const float* y, const float* dy,
                                            float* dx) {
  const std::size_t first = blockIdx.x * columns;
  float own = 0;
  for_row(columns, [&](std::size_t, float value) { own += value; }, dy + first);
  const float total = block_sum(own);
  const auto gradient = [&](std::size_t, float log_p, float d) { return d - expf(log_p) * total; };
  map_row(columns, gradient, dx + first, y + first, dy + first);
}

}  // namespace

void log_softmax_forward(Stream stream, const Matrix& shape, const float* x, float* y) {
  if (shape.size() == 0) return;
  launch("log_softmax_forward", log_softmax_forward_kernel, stream, shape_for_rows(shape),
         shape.columns, x, y);
}

void log_softmax_backward(Stream stream, const Matrix& shape, const float* y, const float* dy,
                          float* dx) {
  if (shape.size() == 0) return;
  launch("log_softmax_backward", log_softmax_backward_kernel, stream, shape_for_rows(shape),
         shape.columns, y, dy, dx);
}

}  // namespace trainscope::kernels
