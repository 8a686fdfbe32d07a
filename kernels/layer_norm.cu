#include "kernels/layer_norm.h"

#include "kernels/column_sums.cuh"
#include "kernels/norms.cuh"

namespace trainscope::kernels {
namespace {

// A block for a row.
template <typename T>
__global__ void layer_norm_forward_kernel(std::size_t columns, const T* x, const float* gamma,
                                          const float* beta, float eps, T* y, float* means,
                                          float* rstds) {
  const T* row = x + blockIdx.x * columns;
  const auto each = [&](const auto& take) {
    for_row(columns, [&](std::size_t, float value) { take(value); }, row);
  };
  const Moments moments = block_moments(static_cast<float>(columns), eps, each);
  const RowNorm norm{moments.mean, moments.rstd};
  const auto normalise = [&](std::size_t, float value, float scale, float shift) {
    return norm(value, scale, shift);
  };
  map_row(columns, normalise, y + blockIdx.x * columns, row, gamma, beta);
  if (threadIdx.x != 0) return;
  means[blockIdx.x] = moments.mean;
  rstds[blockIdx.x] = moments.rstd;
}

template <typename T>
__global__ void layer_norm_backward_kernel(std::size_t columns, const T* x, const float* gamma,
                                           const T* dy, const float* means, const float* rstds,
                                           T* dx) {
  const std::size_t first = blockIdx.x * columns;
  const float mean = means[blockIdx.x];
  const float rstd = rstds[blockIdx.x];
  const auto each = [&](const auto& take) {
    const auto one = [&](std::size_t, float value, float d, float scale) {
      take(value, __fmul_rn(d, scale));
    };
    for_row(columns, one, x + first, dy + first, gamma);
  };
  const RowNormGradient slope = row_norm_gradient(mean, rstd, static_cast<float>(columns),
                                                  block_gradient_sums(mean, rstd, each));
  const auto gradient = [&](std::size_t, float value, float d, float scale) {
    return slope(value, d, scale);
  };
  map_row(columns, gradient, dx + first, x + first, dy + first, gamma);
}

// Of dγ and of dβ.
template <typename T>
struct ParameterTerms {
  const T* x;
  const T* dy;
  const float* mean;
  const float* rstd;
  std::size_t columns;

  using Values = ColumnValues<2>;
  __device__ Values operator()(std::size_t row, std::size_t c) const {
    const std::size_t i = row * columns + c;
    const float d = widen(dy[i]);
    return {{d * ((widen(x[i]) - mean[row]) * rstd[row]), d}};
  }
};

struct StoreParameters {
  StoreSum<float> dgamma;
  StoreSum<float> dbeta;

  __device__ void operator()(std::size_t c, const ColumnValues<2>& sums) const {
    dgamma(c, {{sums.values[0]}});
    dbeta(c, {{sums.values[1]}});
  }
};

}  // namespace

template <typename T>
void layer_norm_forward(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                        const float* beta, float eps, T* y, float* mean, float* rstd) {
  if (shape.rows == 0) return;
  launch("layer_norm_forward", layer_norm_forward_kernel<T>, stream,
         shape_for_rows(shape, kPackOf<T>), shape.columns, x, gamma, beta, eps, y, mean, rstd);
}

template <typename T>
void layer_norm_backward_input(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                               const T* dy, const float* mean, const float* rstd, T* dx) {
  if (shape.rows == 0) return;
  launch("layer_norm_backward", layer_norm_backward_kernel<T>, stream,
         shape_for_rows(shape, kPackOf<T>), shape.columns, x, gamma, dy, mean, rstd, dx);
}

std::size_t layer_norm_workspace(const Matrix& shape) {
  return 2 * column_terms_workspace(shape);
}

template <typename T>
void layer_norm_backward_parameters(Stream stream, const Matrix& shape, const T* x, const T* dy,
                                    const float* mean, const float* rstd, float* workspace,
                                    float* dgamma, float* dbeta, Into into) {
  const ParameterTerms<T> terms{x, dy, mean, rstd, shape.columns};
  const StoreParameters store{{dgamma, into}, {dbeta, into}};
  sum_columns("layer_norm_parameters", stream, shape, terms, workspace, store);
}

#define TRAINSCOPE_INSTANTIATE(T)                                                                  \
  template void layer_norm_forward(Stream, const Matrix&, const T*, const float*, const float*,    \
                                   float, T*, float*, float*);                                     \
  template void layer_norm_backward_input(Stream, const Matrix&, const T*, const float*, const T*, \
                                          const float*, const float*, T*);                         \
  template void layer_norm_backward_parameters(Stream, const Matrix&, const T*, const T*,          \
                                               const float*, const float*, float*, float*, float*, \
                                               Into)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
