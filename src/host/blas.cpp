#include "host/blas.h"

#include <algorithm>

#include "host/product.h"

namespace trainscope::host {
namespace {

// The values of a factor from row or column `begin` of the product on.
const float* rows_from(const Factor& a, std::size_t begin) {
  return a.values + begin * (a.transposed ? 1 : a.stride);
}

const float* columns_from(const Factor& b, std::size_t begin) {
  return b.values + begin * (b.transposed ? b.stride : 1);
}

// How many blocks a product is cut into. Each packs the other factor anew, which costs a large
// product a few hundredths in four blocks and a small one more, and each should take some tens of
// microseconds.
std::size_t blocks_of(const GemmShape& shape) {
  const std::size_t products = shape.rows * shape.columns * shape.inner;
  if (products < std::size_t{1} << 22) return 1;
  if (products < std::size_t{1} << 25) return 2;
  return products < std::size_t{1} << 28 ? 4 : 8;
}

// How many rows or columns of the longer side make one block; blocks begin where the kernels' tiles
// do.
std::size_t block_length(const GemmShape& shape) {
  constexpr std::size_t kTile = 32;
  const std::size_t blocks = blocks_of(shape);
  const std::size_t length = (std::max(shape.rows, shape.columns) + blocks - 1) / blocks;
  return (length + kTile - 1) / kTile * kTile;
}

}  // namespace

void gemm(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c, float alpha,
          const Workers& workers) {
  if (shape.rows == 0 || shape.columns == 0) return;
  if (shape.inner == 0) {
    if (c.into == Into::kAdd) return;
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::fill_n(c.values + row * c.stride, shape.columns, 0.0F);
    }
    return;
  }
  const bool by_rows = shape.rows > shape.columns;
  const std::size_t side = by_rows ? shape.rows : shape.columns;
  workers.for_ranges(side, block_length(shape), [&](std::size_t begin, std::size_t end) {
    if (by_rows) {
      multiply({end - begin, shape.columns, shape.inner},
               {rows_from(a, begin), a.stride, a.transposed}, b,
               {c.values + begin * c.stride, c.stride, c.into}, alpha);
    } else {
      multiply({shape.rows, end - begin, shape.inner}, a,
               {columns_from(b, begin), b.stride, b.transposed},
               {c.values + begin, c.stride, c.into}, alpha);
    }
  });
}

}  // namespace trainscope::host
