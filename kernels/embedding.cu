#include "kernels/embedding.h"

#include "kernels/block.cuh"

namespace trainscope::kernels {
namespace {

// A block for a token.
template <typename T>
__global__ void embedding_forward_kernel(std::size_t rows, std::size_t columns, const T* table,
                                         const std::int64_t* tokens, T* y) {
  const std::int64_t token = tokens[blockIdx.x];
  if (token < 0 || token >= static_cast<std::int64_t>(rows)) __trap();
  const T* row = table + static_cast<std::size_t>(token) * columns;
  map_row(columns, [](std::size_t, float value) { return value; }, y + blockIdx.x * columns, row);
}

constexpr unsigned kBackwardThreads = 128;

// Whether no block before this one has its token.
__device__ bool is_first(const std::int64_t* tokens, std::int64_t token) {
  bool seen = false;
  for (std::size_t t = threadIdx.x; t < blockIdx.x; t += blockDim.x) {
    seen = seen || tokens[t] == token;
  }
  return __syncthreads_or(seen) == 0;
}

// The block of a token's first place sums all of that token's gradients, for as many columns as it
// has threads.
template <typename T>
__global__ void embedding_backward_kernel(std::size_t rows, std::size_t columns,
                                          const std::int64_t* tokens, std::size_t count,
                                          const T* dy, float* dtable) {
  __shared__ bool matches[kBackwardThreads];
  const std::int64_t token = tokens[blockIdx.x];
  if (token < 0 || token >= static_cast<std::int64_t>(rows)) __trap();
  if (!is_first(tokens, token)) return;
  const std::size_t c = blockIdx.y * kBackwardThreads + threadIdx.x;
  float* place = dtable + static_cast<std::size_t>(token) * columns + c;
  float total = c < columns ? *place : 0;
  for (std::size_t begin = blockIdx.x; begin < count; begin += kBackwardThreads) {
    const std::size_t own = begin + threadIdx.x;
    matches[threadIdx.x] = own < count && tokens[own] == token;
    __syncthreads();
    for (std::size_t k = 0; k < kBackwardThreads && c < columns; ++k) {
      if (matches[k]) total += widen(dy[(begin + k) * columns + c]);
    }
    __syncthreads();
  }
  if (c < columns) *place = total;
}

}  // namespace

template <typename T>
void embedding_forward(Stream stream, const Matrix& table_shape, const T* table,
                       const std::int64_t* tokens, std::size_t count, T* y) {
  if (count == 0) return;
  launch("embedding_forward", embedding_forward_kernel<T>, stream,
         shape_for_rows({count, table_shape.columns}), table_shape.rows, table_shape.columns, table,
         tokens, y);
}

template <typename T>
void embedding_backward(Stream stream, const Matrix& table_shape, const std::int64_t* tokens,
                        std::size_t count, const T* dy, float* dtable) {
  if (count == 0 || table_shape.columns == 0) return;
  const std::size_t strips = (table_shape.columns + kBackwardThreads - 1) / kBackwardThreads;
  const Shape shape{{static_cast<unsigned>(count), static_cast<unsigned>(strips), 1},
                    {kBackwardThreads, 1, 1}};
  launch("embedding_backward", embedding_backward_kernel<T>, stream, shape, table_shape.rows,
         table_shape.columns, tokens, count, dy, dtable);
}

#define TRAINSCOPE_INSTANTIATE(T)                                                           \
  template void embedding_forward(Stream, const Matrix&, const T*, const std::int64_t*,     \
                                  std::size_t, T*);                                         \
  template void embedding_backward(Stream, const Matrix&, const std::int64_t*, std::size_t, \
                                   const T*, float*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
