#include "kernels/rms_norm.h"

#include "kernels/block.cuh"
#include "kernels/column_sums.cuh"

namespace trainscope::kernels {
namespace {

// A block for a row.
template <typename T>
__global__ void rms_norm_forward_kernel(std::size_t columns, const T* x, const float* gamma,
                                        float eps, T* y, float* rstds) {
  const T* row = x + blockIdx.x * columns;
  float own = 0;
  for_row(columns, [&](std::size_t, float value) { own += value * value; }, row);
  const float rstd = 1 / sqrtf(block_sum(own) / static_cast<float>(columns) + eps);
  const auto normalise = [&](std::size_t, float value, float scale) {
    return __fmul_rn(value * rstd, scale);
  };
  map_row(columns, normalise, y + blockIdx.x * columns, row, gamma);
  if (threadIdx.x == 0) rstds[blockIdx.x] = rstd;
}

template <typename T>
__global__ void rms_norm_backward_kernel(std::size_t columns, const T* x, const float* gamma,
                                         const T* dy, const float* rstds, T* dx) {
  const std::size_t first = blockIdx.x * columns;
  const float rstd = rstds[blockIdx.x];
  float own = 0;
  const auto one = [&](std::size_t, float value, float d, float scale) {
    own += d * scale * (value * rstd);
  };
  for_row(columns, one, x + first, dy + first, gamma);
  const float mean = block_sum(own) / static_cast<float>(columns);
  const auto gradient = [&](std::size_t, float value, float d, float scale) {
    return __fmul_rn(rstd, d * scale - value * rstd * mean);
  };
  map_row(columns, gradient, dx + first, x + first, dy + first, gamma);
}

// Of dγ.
template <typename T>
struct WeightTerms {
  const T* x;
  const T* dy;
  const float* rstd;
  std::size_t columns;

  using Values = ColumnValues<1>;
  __device__ Values operator()(std::size_t row, std::size_t c) const {
    const std::size_t i = row * columns + c;
    return {{widen(dy[i]) * (widen(x[i]) * rstd[row])}};
  }
};

}  // namespace

template <typename T>
void rms_norm_forward(Stream stream, const Matrix& shape, const T* x, const float* gamma, float eps,
                      T* y, float* rstd) {
  if (shape.rows == 0) return;
  launch("rms_norm_forward", rms_norm_forward_kernel<T>, stream, shape_for_rows(shape, kPackOf<T>),
         shape.columns, x, gamma, eps, y, rstd);
}

template <typename T>
void rms_norm_backward_input(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                             const T* dy, const float* rstd, T* dx) {
  if (shape.rows == 0) return;
  launch("rms_norm_backward", rms_norm_backward_kernel<T>, stream,
         shape_for_rows(shape, kPackOf<T>), shape.columns, x, gamma, dy, rstd, dx);
}

std::size_t rms_norm_workspace(const Matrix& shape) {
  return column_terms_workspace(shape);
}

template <typename T>
void rms_norm_backward_weight(Stream stream, const Matrix& shape, const T* x, const T* dy,
                              const float* rstd, float* workspace, float* dgamma, Into into) {
  sum_columns("rms_norm_weight", stream, shape, WeightTerms<T>{x, dy, rstd, shape.columns},
              workspace, StoreSum<float>{dgamma, into});
}

#define TRAINSCOPE_INSTANTIATE(T)                                                                 \
  template void rms_norm_forward(Stream, const Matrix&, const T*, const float*, float, T*,        \
                                 float*);                                                         \
  template void rms_norm_backward_input(Stream, const Matrix&, const T*, const float*, const T*,  \
                                        const float*, T*);                                        \
  template void rms_norm_backward_weight(Stream, const Matrix&, const T*, const T*, const float*, \
                                         float*, float*, Into)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
