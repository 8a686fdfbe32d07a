// Matrix products by OpenBLAS, in FP32.
#pragma once

#include <cstddef>

#include "host/views.h"

namespace trainscope::host {

// How many threads OpenBLAS may use; it holds for the process, whose BLAS is one. Results may
// differ in the last places from one count to another, and are the same from run to run for one
// count.
void set_blas_threads(int count);
int blas_threads();

struct GemmShape {
  std::size_t rows = 0;     // of the result
  std::size_t columns = 0;  // of the result
  std::size_t inner = 0;
};

// A matrix as it lies in memory: `stride` values from one row to the next. `transposed` says that
// the product takes it the other way round.
struct Factor {
  const float* values = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

struct Product {
  float* values = nullptr;
  std::size_t stride = 0;
  Into into = Into::kReplace;
};

// c = alpha a b, or c += alpha a b.
void gemm(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
          float alpha = 1);

}  // namespace trainscope::host
