#include "host/blas.h"

#include <cblas.h>

#include <algorithm>
#include <cassert>
#include <limits>

namespace trainscope::host {
namespace {

blasint whole(std::size_t value) {
  assert(value <= static_cast<std::size_t>(std::numeric_limits<blasint>::max()));
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE order(const Factor& factor) {
  return factor.transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

void set_blas_threads(int count) {
  openblas_set_num_threads(count);
}

int blas_threads() {
  return openblas_get_num_threads();
}

void gemm(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c, float alpha) {
  if (shape.rows == 0 || shape.columns == 0) return;
  if (shape.inner == 0) {
    if (c.into == Into::kAdd) return;
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::fill_n(c.values + row * c.stride, shape.columns, 0.0F);
    }
    return;
  }
  cblas_sgemm(CblasRowMajor, order(a), order(b), whole(shape.rows), whole(shape.columns),
              whole(shape.inner), alpha, a.values, whole(a.stride), b.values, whole(b.stride),
              c.into == Into::kAdd ? 1.0F : 0.0F, c.values, whole(c.stride));
}

}  // namespace trainscope::host
