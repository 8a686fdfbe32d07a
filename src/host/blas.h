// Matrix products in FP32, by OpenBLAS or, where that is not to be had, by Eigen.
#pragma once

#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

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

// c = alpha a b, or c += alpha a b. `workers` share out blocks of c, cut by the shape, so that the
// results are the same bytes for any number of them; OpenBLAS itself is set to one thread for the
// whole process (it has no other setting).
void gemm(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
          float alpha = 1, const Workers& workers = {});

}  // namespace trainscope::host
