#include "kernels/reductions.h"

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/column_sums.cuh"

namespace trainscope::kernels {
namespace {

constexpr std::size_t kSumThreads = 256;

// Blocks that share a sum: enough to fill a device, few enough for one block to finish.
std::size_t sum_blocks(std::size_t count) {
  constexpr std::size_t kEach = 8 * kSumThreads;  // values that a block should have
  constexpr std::size_t kMost = 1024;
  return std::clamp<std::size_t>((count + kEach - 1) / kEach, 1, kMost);
}

template <typename T>
__global__ void sum_kernel(const T* x, std::size_t count, std::size_t each, float* totals) {
  const std::size_t begin = blockIdx.x * each;
  const std::size_t end = begin + each < count ? begin + each : count;
  float own = 0;
  constexpr int kPack = kPackOf<T>, kPacks = 4;
  const auto take = [&](auto width, const Flight& flight) {
    constexpr int kCount = decltype(width)::kValues;
    const auto add = [&](std::size_t, const Pack<T, kCount>& pack) {
      for (const T value : pack.values) own += widen(value);
    };
    with_flight<kCount, kPacks>(flight, add, x + begin);
  };
  const std::size_t left = begin < end ? end - begin : 0;
  for_flights<kPack, kPacks>(threadIdx.x, blockDim.x, left, is_aligned(x) ? left / kPack : 0, take);
  const float total = block_sum(own);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <typename T>
struct Terms {
  const T* x;
  std::size_t columns;

  using Values = ColumnValues<1>;
  __device__ Values operator()(std::size_t row, std::size_t c) const {
    return {{widen(x[row * columns + c])}};
  }
};

template <typename T>
void sum_parts(Stream stream, const T* x, std::size_t count, std::size_t blocks, float* totals) {
  // Whole packs, so that every block begins aligned where the first does.
  constexpr std::size_t kPack = kPackOf<T>;
  const std::size_t each = ((count + blocks - 1) / blocks + kPack - 1) / kPack * kPack;
  const Shape shape{{static_cast<unsigned>(blocks), 1, 1}, {kSumThreads, 1, 1}};
  launch("sum", sum_kernel<T>, stream, shape, x, count, each, totals);
}

}  // namespace

std::size_t sum_workspace(std::size_t count) {
  return sum_blocks(count);
}

template <typename T>
void sum(Stream stream, const T* x, std::size_t count, float* workspace, float* total) {
  const std::size_t blocks = sum_blocks(count);
  sum_parts(stream, x, count, blocks, workspace);
  sum_parts(stream, static_cast<const float*>(workspace), blocks, 1, total);
}

std::size_t column_sums_workspace(const Matrix& shape) {
  return column_terms_workspace(shape);
}

template <typename T, typename Out>
void column_sums(Stream stream, const Matrix& shape, const T* x, float* workspace, Out* sums,
                 Into into) {
  sum_columns("column_sums", stream, shape, Terms<T>{x, shape.columns}, workspace,
              StoreSum<Out>{sums, into});
}

template void sum(Stream, const float*, std::size_t, float*, float*);
template void sum(Stream, const Half*, std::size_t, float*, float*);
template void sum(Stream, const Bfloat16*, std::size_t, float*, float*);
#define TRAINSCOPE_INSTANTIATE(T)                                                   \
  template void column_sums(Stream, const Matrix&, const T*, float*, float*, Into); \
  template void column_sums(Stream, const Matrix&, const T*, float*, Half*, Into);  \
  template void column_sums(Stream, const Matrix&, const T*, float*, Bfloat16*, Into)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
