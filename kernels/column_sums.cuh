// Sums down the columns of a matrix, each term computed on the way; several sums in one pass.
//
// The rows are cut into parts; a block sums 32 columns of a part, neighbouring threads reading
// neighbouring columns. Of several parts a second kernel adds the sums up, in order. What becomes
// of them a function object says: finish(c, sums), called once for each column.
#pragma once

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {

inline constexpr unsigned kColumns = 32;    // of a block
inline constexpr unsigned kRowThreads = 8;  // threads that share a column
inline constexpr unsigned kColumnThreads = kColumns * kRowThreads;

// One value of each sum.
template <int kSums>
struct ColumnValues {
  static constexpr int kCount = kSums;
  float values[kSums] = {};
};

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

// A thread's rows.
struct ColumnRows {
  std::size_t begin;
  std::size_t end;
  std::size_t apart;
};

// Adds term(row, c) of each row, kAhead of them being read before the first is added. A term that
// has several rows' values at once brings an own one.
template <typename Term>
__device__ void add_terms(const Term& term, const ColumnRows& rows, std::size_t c,
                          typename Term::Values& own) {
  constexpr std::size_t kAhead = 8;
  const auto add = [&](const typename Term::Values& terms) {
    for (int s = 0; s < Term::Values::kCount; ++s) own.values[s] += terms.values[s];
  };
  std::size_t row = rows.begin;
  for (; row + (kAhead - 1) * rows.apart < rows.end; row += kAhead * rows.apart) {
    typename Term::Values ahead[kAhead];
    TRAINSCOPE_UNROLLED
    for (std::size_t k = 0; k < kAhead; ++k) ahead[k] = term(row + k * rows.apart, c);
    TRAINSCOPE_UNROLLED
    for (std::size_t k = 0; k < kAhead; ++k) add(ahead[k]);
  }
  for (; row < rows.end; row += rows.apart) add(term(row, c));
}

// The matrix, and how many of its rows a part has.
struct ColumnShape {
  std::size_t rows;
  std::size_t columns;
  std::size_t part_rows;
};

// Σ term(row, c) over the rows of the block's part. Term::Values: its ColumnValues.
template <typename Term, typename Finish>
__device__ __forceinline__ void sum_part(const Term& term, const ColumnShape& shape,
                                         const Finish& finish) {
  const auto [rows, columns, part_rows] = shape;
  using Values = typename Term::Values;
  __shared__ float sums[Values::kCount][kRowThreads][kColumns];
  const std::size_t c = std::size_t{blockIdx.x} * kColumns + threadIdx.x;
  const std::size_t begin = blockIdx.y * part_rows;
  const std::size_t end = begin + part_rows < rows ? begin + part_rows : rows;
  Values own;
  if (c < columns) add_terms(term, {begin + threadIdx.y, end, kRowThreads}, c, own);
  for (int s = 0; s < Values::kCount; ++s) sums[s][threadIdx.y][threadIdx.x] = own.values[s];
  __syncthreads();
  if (threadIdx.y != 0 || c >= columns) return;
  for (int s = 0; s < Values::kCount; ++s) {
    for (unsigned y = 1; y < kRowThreads; ++y) own.values[s] += sums[s][y][threadIdx.x];
  }
  finish(c, own);
}

template <typename Term, typename Finish>
__global__ void __launch_bounds__(kColumnThreads, 4)
    column_sums_kernel(const __grid_constant__ Term term, ColumnShape shape,
                       const __grid_constant__ Finish finish) {
  sum_part(term, shape, finish);
}

// A part's sums, as they are added up later: those of a part side by side, one sum after another.
struct KeepPart {
  float* parts;
  std::size_t columns;

  template <int kSums>
  __device__ void operator()(std::size_t c, const ColumnValues<kSums>& sums) const {
    for (int s = 0; s < kSums; ++s) {
      parts[(std::size_t{blockIdx.y} * kSums + static_cast<std::size_t>(s)) * columns + c] =
          sums.values[s];
    }
  }
};

// Partial sums that are to be added up, as KeepPart has left them.
struct PartSums {
  const float* parts;
  std::size_t count;
  std::size_t columns;
};

template <int kSums, typename Finish>
__device__ __forceinline__ void add_parts(const PartSums& of, const Finish& finish) {
  const auto [parts, count, columns] = of;
  for (std::size_t c = first_item(); c < columns; c += item_step()) {
    ColumnValues<kSums> totals;
    TRAINSCOPE_UNROLLED_BY_16
    for (std::size_t part = 0; part < count; ++part) {
      for (int s = 0; s < kSums; ++s) {
        totals.values[s] += parts[(part * kSums + static_cast<std::size_t>(s)) * columns + c];
      }
    }
    finish(c, totals);
  }
}

template <int kSums, typename Finish>
__global__ void add_parts_kernel(PartSums of, const __grid_constant__ Finish finish) {
  add_parts<kSums>(of, finish);
}

// sums[c] = the sum, or added to it.
template <typename T>
struct StoreSum {
  T* sums;
  Into into;

  __device__ void operator()(std::size_t c, const ColumnValues<1>& sum) const {
    const float total = sum.values[0];
    sums[c] = narrow<T>(into == Into::kAdd ? widen(sums[c]) + total : total);
  }
};

// Floats to work in, for each sum.
inline std::size_t column_terms_workspace(const Matrix& shape) {
  const std::size_t parts = ColumnParts(shape).count;
  return parts == 1 ? 0 : parts * shape.columns;
}

// What sums of columns are started with: their blocks, and the parts where there are several.
struct ColumnGrid {
  explicit ColumnGrid(const Matrix& matrix) : parts(matrix) {
    const auto strips = static_cast<unsigned>((matrix.columns + kColumns - 1) / kColumns);
    blocks = {{strips, static_cast<unsigned>(parts.count), 1}, {kColumns, kRowThreads, 1}};
    shape = {matrix.rows, matrix.columns, parts.rows};
  }
  PartSums sums(const float* workspace) const { return {workspace, parts.count, shape.columns}; }
  Shape adding() const { return shape_for(shape.columns); }

  ColumnParts parts;
  Shape blocks;
  ColumnShape shape;
};

template <typename Term, typename Finish>
void sum_columns(const char* name, Stream stream, const Matrix& shape, const Term& term,
                 float* workspace, const Finish& finish) {
  if (shape.columns == 0) return;
  const ColumnGrid grid(shape);
  if (grid.parts.count == 1)
    return launch(name, column_sums_kernel<Term, Finish>, stream, grid.blocks, term, grid.shape,
                  finish);
  launch(name, column_sums_kernel<Term, KeepPart>, stream, grid.blocks, term, grid.shape,
         KeepPart{workspace, shape.columns});
  launch(name, add_parts_kernel<Term::Values::kCount, Finish>, stream, grid.adding(),
         grid.sums(workspace), finish);
}

}  // namespace trainscope::kernels
