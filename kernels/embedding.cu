#include "kernels/embedding.h"

#include "kernels/block.cuh"
#include "kernels/map.cuh"

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

// The same of some rows.
template <typename T>
__global__ void embedding_of_rows_kernel(std::size_t rows, std::int64_t first, std::size_t columns,
                                         const T* table, const std::int64_t* tokens, T* y) {
  const std::int64_t own = tokens[blockIdx.x] - first;
  const bool is_here = own >= 0 && own < static_cast<std::int64_t>(rows);
  const T* row = table + (is_here ? static_cast<std::size_t>(own) : 0) * columns;
  const auto value_of = [is_here](std::size_t, float value) { return is_here ? value : 0.0F; };
  map_row(columns, value_of, y + blockIdx.x * columns, row);
}

// The positions of tokens in the workspace, those of a token side by side. Where a token's begin is
// left to chance; in which order they are is not.
struct Positions {
  Positions(std::size_t rows, std::size_t count, std::int32_t* workspace)
      : taken(workspace),
        counts(taken + 1),
        ends(counts + rows),
        unordered(ends + rows),
        ordered(unordered + count) {}

  __device__ std::size_t begin(std::int64_t token) const {
    return static_cast<std::size_t>(ends[token] - counts[token]);
  }
  __device__ std::size_t end(std::int64_t token) const {
    return static_cast<std::size_t>(ends[token]);
  }

  std::int32_t* taken;   // how many places tokens have been given
  std::int32_t* counts;  // of each row of the table: how many tokens ask for it
  std::int32_t* ends;    // of its places, once all of its positions are there
  std::int32_t* unordered;
  std::int32_t* ordered;
};

__global__ void clear_kernel(std::int32_t* numbers, std::size_t count) {
  for (std::size_t i = first_item(); i < count; i += item_step()) numbers[i] = 0;
}

__global__ void count_kernel(const std::int64_t* tokens, std::size_t count, std::size_t rows,
                             Positions positions) {
  for (std::size_t t = first_item(); t < count; t += item_step()) {
    const std::int64_t token = tokens[t];
    if (token < 0 || token >= static_cast<std::int64_t>(rows)) __trap();
    atomicAdd(&positions.counts[token], 1);
  }
}

// Each row's places end where they begin: none is filled yet.
__global__ void give_places_kernel(std::size_t rows, Positions positions) {
  for (std::size_t row = first_item(); row < rows; row += item_step()) {
    const std::int32_t wanted = positions.counts[row];
    if (wanted != 0) positions.ends[row] = atomicAdd(positions.taken, wanted);
  }
}

__global__ void fill_places_kernel(const std::int64_t* tokens, std::size_t count,
                                   Positions positions) {
  for (std::size_t t = first_item(); t < count; t += item_step()) {
    const std::int32_t place = atomicAdd(&positions.ends[tokens[t]], 1);
    positions.unordered[place] = static_cast<std::int32_t>(t);
  }
}

// A position's place among its token's is how many of them are before it.
__global__ void order_kernel(const std::int64_t* tokens, std::size_t count, Positions positions) {
  for (std::size_t t = first_item(); t < count; t += item_step()) {
    const std::size_t begin = positions.begin(tokens[t]);
    const std::size_t end = positions.end(tokens[t]);
    const auto own = static_cast<std::int32_t>(t);
    std::size_t before = 0;
    for (std::size_t k = begin; k < end; ++k) before += positions.unordered[k] < own ? 1 : 0;
    positions.ordered[begin + before] = own;
  }
}

// So many blocks on an SM leave each thread 64 registers, room for the rows that it reads ahead:
// for as many blocks as fit nvcc would keep to 32 and read one row at a time.
constexpr unsigned kSumThreads = 64;
constexpr unsigned kSumBlocks = 16;

// Adds rows of `from`, each `columns` wide, one after another; several are read before the first of
// them is added.
template <int kPack, typename T>
__device__ void add_rows(const T* from, std::size_t columns, const std::int32_t* rows,
                         std::size_t count, Pack<float, kPack>& total) {
  constexpr std::size_t kAhead = 8;
  const auto row_at = [&](std::size_t k) {
    return load_pack<kPack>(from + static_cast<std::size_t>(rows[k]) * columns);
  };
  const auto add = [&](const Pack<T, kPack>& row) {
    for (int k = 0; k < kPack; ++k) total.values[k] += widen(row.values[k]);
  };
  std::size_t done = 0;
  for (; done + kAhead <= count; done += kAhead) {
    Pack<T, kPack> ahead[kAhead];
    for (std::size_t k = 0; k < kAhead; ++k) ahead[k] = row_at(done + k);
    for (std::size_t k = 0; k < kAhead; ++k) add(ahead[k]);
  }
  for (; done < count; ++done) add(row_at(done));
}

// The block of a token's first place sums all of that token's gradients, in as many columns as its
// threads have.
template <int kPack, typename T>
__global__ void __launch_bounds__(kSumThreads, kSumBlocks)
    embedding_backward_kernel(std::size_t columns, const std::int64_t* tokens, Positions positions,
                              const T* dy, float* dtable) {
  const std::int64_t token = tokens[positions.ordered[blockIdx.x]];
  const std::size_t begin = positions.begin(token);
  const std::size_t c = (std::size_t{blockIdx.y} * kSumThreads + threadIdx.x) * kPack;
  if (blockIdx.x != begin || c >= columns) return;
  float* place = dtable + static_cast<std::size_t>(token) * columns + c;
  Pack<float, kPack> total = load_pack<kPack>(place);
  add_rows<kPack>(dy + c, columns, positions.ordered + begin, positions.end(token) - begin, total);
  store_pack(place, total);
}

template <int kPack, typename T>
void sum_by_token(Stream stream, std::size_t columns, const std::int64_t* tokens, std::size_t count,
                  const Positions& positions, const T* dy, float* dtable) {
  constexpr std::size_t kStrip = kSumThreads * kPack;
  const std::size_t strips = (columns + kStrip - 1) / kStrip;
  const Shape shape{{static_cast<unsigned>(count), static_cast<unsigned>(strips), 1},
                    {kSumThreads, 1, 1}};
  launch("embedding_backward", embedding_backward_kernel<kPack, T>, stream, shape, columns, tokens,
         positions, dy, dtable);
}

Positions find_positions(Stream stream, std::size_t rows, const std::int64_t* tokens,
                         std::size_t count, std::int32_t* workspace) {
  const Positions positions(rows, count, workspace);
  const char* name = "embedding_positions";
  const std::size_t cleared = 1 + rows;  // `taken` and `counts`
  launch(name, clear_kernel, stream, shape_for(cleared), workspace, cleared);
  launch(name, count_kernel, stream, shape_for(count), tokens, count, rows, positions);
  launch(name, give_places_kernel, stream, shape_for(rows), rows, positions);
  launch(name, fill_places_kernel, stream, shape_for(count), tokens, count, positions);
  launch(name, order_kernel, stream, shape_for(count), tokens, count, positions);
  return positions;
}

}  // namespace

template <typename T>
void embedding_forward(Stream stream, const Matrix& table_shape, const T* table,
                       const std::int64_t* tokens, std::size_t count, T* y) {
  if (count == 0) return;
  launch("embedding_forward", embedding_forward_kernel<T>, stream,
         shape_for_rows({count, table_shape.columns}, kPackOf<T>), table_shape.rows,
         table_shape.columns, table, tokens, y);
}

template <typename T>
void embedding_forward_of_rows(Stream stream, const Matrix& table_shape, std::int64_t first,
                               const T* table, const std::int64_t* tokens, std::size_t count,
                               T* y) {
  if (count == 0) return;
  launch("embedding_forward_of_rows", embedding_of_rows_kernel<T>, stream,
         shape_for_rows({count, table_shape.columns}, kPackOf<T>), table_shape.rows, first,
         table_shape.columns, table, tokens, y);
}

std::size_t embedding_workspace(const Matrix& table_shape, std::size_t count) {
  return 1 + 2 * table_shape.rows + 2 * count;
}

template <typename T>
void embedding_backward(Stream stream, const Matrix& table_shape, const std::int64_t* tokens,
                        std::size_t count, const T* dy, std::int32_t* workspace, float* dtable) {
  const std::size_t columns = table_shape.columns;
  if (count == 0 || columns == 0) return;
  const Positions positions = find_positions(stream, table_shape.rows, tokens, count, workspace);
  constexpr int kPack = kPackOf<T>;
  if (columns % kPack == 0 && is_aligned(dy) && is_aligned(dtable))
    return sum_by_token<kPack>(stream, columns, tokens, count, positions, dy, dtable);
  sum_by_token<1>(stream, columns, tokens, count, positions, dy, dtable);
}

#define TRAINSCOPE_INSTANTIATE(T)                                                           \
  template void embedding_forward(Stream, const Matrix&, const T*, const std::int64_t*,     \
                                  std::size_t, T*);                                         \
  template void embedding_forward_of_rows(Stream, const Matrix&, std::int64_t, const T*,    \
                                          const std::int64_t*, std::size_t, T*);            \
  template void embedding_backward(Stream, const Matrix&, const std::int64_t*, std::size_t, \
                                   const T*, std::int32_t*, float*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
