// One block of a matrix product, on the thread that calls: by openblas/ or eigen/, as CMake
// chooses.
#pragma once

#include "host/blas.h"

namespace trainscope::host {

// c = alpha a b, or c += alpha a b; no side is 0. The same blocks give the same bytes.
void multiply(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
              float alpha);

}  // namespace trainscope::host
