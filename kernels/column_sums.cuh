// Sums down the columns of a matrix, each term computed on the way.
//
// The rows are cut into parts; a block sums 32 columns of a part, neighbouring threads reading
// neighbouring columns, and a second kernel sums the parts in order.
#pragma once

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {

inline constexpr unsigned kColumns = 32;    // of a block
inline constexpr unsigned kRowThreads = 8;  // threads that share a column

struct ColumnParts {
  explicit ColumnParts(const Matrix& shape) {
    constexpr std::size_t kFewestRows = 64;
    constexpr std::size_t kMostParts = 128;
    count = std::clamp<std::size_t>(shape.rows / kFewestRows, 1, kMostParts);
    rows = (shape.rows + count - 1) / count;
  }
  std::size_t count;
  std::size_t rows;  // of each; the last may have fewer
};

// parts[part, c] = Σ term(row, c) over the rows of the part.
template <typename Term>
__global__ void column_parts_kernel(Term term, std::size_t rows, std::size_t columns,
                                    std::size_t part_rows, float* parts) {
  __shared__ float sums[kRowThreads][kColumns];
  const std::size_t c = std::size_t{blockIdx.x} * kColumns + threadIdx.x;
  const std::size_t begin = blockIdx.y * part_rows;
  const std::size_t end = begin + part_rows < rows ? begin + part_rows : rows;
  float own = 0;
  for (std::size_t row = begin + threadIdx.y; c < columns && row < end; row += kRowThreads) {
    own += term(row, c);
  }
  sums[threadIdx.y][threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.y != 0 || c >= columns) return;
  for (unsigned y = 1; y < kRowThreads; ++y) own += sums[y][threadIdx.x];
  parts[blockIdx.y * columns + c] = own;
}

struct PartsTotal {
  const float* parts;
  std::size_t count;
  std::size_t columns;
  const float* before;  // null: nothing is added to

  __device__ float operator()(std::size_t c) const {
    float total = 0;
    for (std::size_t part = 0; part < count; ++part) total += parts[part * columns + c];
    return before == nullptr ? total : before[c] + total;
  }
};

inline std::size_t column_terms_workspace(const Matrix& shape) {
  return ColumnParts(shape).count * shape.columns;
}

// The sums of each part, for PartsTotal.
template <typename Term>
ColumnParts sum_column_parts(const char* name, Stream stream, const Matrix& shape, const Term& term,
                             float* workspace) {
  const ColumnParts parts(shape);
  const auto strips = static_cast<unsigned>((shape.columns + kColumns - 1) / kColumns);
  const Shape grid{{strips, static_cast<unsigned>(parts.count), 1}, {kColumns, kRowThreads, 1}};
  launch(name, column_parts_kernel<Term>, stream, grid, term, shape.rows, shape.columns, parts.rows,
         workspace);
  return parts;
}

// sums[c] = Σ_r term(r, c), or added to it.
template <typename Term>
void sum_columns(const char* name, Stream stream, const Matrix& shape, const Term& term,
                 float* workspace, float* sums, Into into) {
  if (shape.columns == 0) return;
  const ColumnParts parts = sum_column_parts(name, stream, shape, term, workspace);
  const PartsTotal total{workspace, parts.count, shape.columns,
                         into == Into::kAdd ? sums : nullptr};
  map(name, stream, total, shape.columns, sums);
}

}  // namespace trainscope::kernels
