#include "kernels/positions.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

struct Sum {
  __device__ float operator()(float position, float x) const { return x + position; }
};

// An item is a pack of columns, or one column. Rows outermost, so that their loads follow one
// another without waiting.
template <typename T>
__global__ void positions_gradient_kernel(Matrix shape, std::size_t packs, const T* dy,
                                          std::size_t count, T* dtable) {
  const auto sum_columns = [&](auto width, std::size_t c) {
    constexpr int kCount = decltype(width)::kValues;
    float sums[kCount] = {};
    for (std::size_t row = 0; c < shape.columns && row < shape.rows; ++row) {
      const Pack<T, kCount> values = load_pack<kCount>(dy + row * shape.columns + c);
      for (int k = 0; k < kCount; ++k) sums[k] += widen(values.values[k]);
    }
    Pack<T, kCount> results;
    for (int k = 0; k < kCount; ++k) results.values[k] = narrow<T>(sums[k]);
    store_pack(dtable + c, results);
  };
  for_items<kPackOf<T>>(first_item(), item_step(), count, packs, sum_columns);
}

}  // namespace

template <typename T>
void add_positions(Stream stream, const Matrix& shape, const T* x, const T* table, T* y) {
  map_repeated("add_positions", stream, Sum{}, shape, table, y, x);
}

template <typename T>
void add_positions_backward(Stream stream, const Matrix& shape, const T* dy, std::size_t count,
                            T* dtable) {
  if (count == 0) return;
  constexpr std::size_t kPack = kPackOf<T>;
  const bool in_packs = shape.columns % kPack == 0 && is_aligned(dy) && is_aligned(dtable);
  const std::size_t packs = in_packs ? count / kPack : 0;
  launch("add_positions_backward", positions_gradient_kernel<T>, stream,
         shape_for(packs + count - packs * kPack), shape, packs, dy, count, dtable);
}

template void add_positions(Stream, const Matrix&, const float*, const float*, float*);
template void add_positions(Stream, const Matrix&, const Half*, const Half*, Half*);
template void add_positions(Stream, const Matrix&, const Bfloat16*, const Bfloat16*, Bfloat16*);
template void add_positions_backward(Stream, const Matrix&, const float*, std::size_t, float*);
template void add_positions_backward(Stream, const Matrix&, const Half*, std::size_t, Half*);
template void add_positions_backward(Stream, const Matrix&, const Bfloat16*, std::size_t,
                                     Bfloat16*);

}  // namespace trainscope::kernels
