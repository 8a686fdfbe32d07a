#include "kernels/positions.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

template <typename T>
struct WithPosition {
  const T* table;
  std::size_t columns;
  __device__ float operator()(std::size_t i, float x) const {
    return x + widen(table[i % columns]);
  }
};

template <typename T>
struct OverBatch {
  const T* dy;
  std::size_t rows;
  std::size_t columns;
  __device__ float operator()(std::size_t i) const {
    if (i >= columns) return 0;
    float sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += widen(dy[row * columns + i]);
    return sum;
  }
};

}  // namespace

template <typename T>
void add_positions(Stream stream, const Matrix& shape, const T* x, const T* table, T* y) {
  map("add_positions", stream, WithPosition<T>{table, shape.columns}, shape.size(), y, x);
}

template <typename T>
void add_positions_backward(Stream stream, const Matrix& shape, const T* dy, std::size_t count,
                            T* dtable) {
  map("add_positions_backward", stream, OverBatch<T>{dy, shape.rows, shape.columns}, count, dtable);
}

template void add_positions(Stream, const Matrix&, const float*, const float*, float*);
template void add_positions(Stream, const Matrix&, const Half*, const Half*, Half*);
template void add_positions(Stream, const Matrix&, const Bfloat16*, const Bfloat16*, Bfloat16*);
template void add_positions_backward(Stream, const Matrix&, const float*, std::size_t, float*);
template void add_positions_backward(Stream, const Matrix&, const Half*, std::size_t, Half*);
template void add_positions_backward(Stream, const Matrix&, const Bfloat16*, std::size_t,
                                     Bfloat16*);

}  // namespace trainscope::kernels
