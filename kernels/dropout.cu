#include "kernels/dropout.h"

#include "base/random.h"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// Words that Philox gives at once.
constexpr int kWords = 4;

struct Factors {
  float p;
  float scale;
  __device__ float apply(std::uint32_t word, float value) const {
    return unit_float(word) >= p ? value * scale : 0.0F;
  }
};

// An item is one block of Philox: the values whose words it has. Only the first and the last block
// may have words that belong to no value.
template <typename T>
__global__ void dropout_kernel(Dropout dropout, Factors factors, const T* x, T* y,
                               std::size_t count, bool packed) {
  const std::uint64_t offset = dropout.first_word();
  const std::uint64_t first_block = offset / kWords;
  const std::uint64_t last_word = offset + count;
  if (offset % kWords != 0) packed = false;
  for (std::uint64_t block = first_block + first_item(); block * kWords < last_word;
       block += item_step()) {
    const PhiloxCounter drawn = random_block(dropout.seed, block, dropout.stream);
    const std::uint64_t word = block * kWords;
    if (packed && word + kWords <= last_word) {
      const std::size_t first = word - offset;
      const auto drop = [&](std::size_t i, float value) {
        return factors.apply(drawn.words[i - first], value);
      };
      map_pack<kWords>(first, drop, y, x);
      continue;
    }
    for (int k = 0; k < kWords; ++k) {
      if (word + k < offset || word + k >= last_word) continue;
      const std::size_t i = word + k - offset;
      y[i] = narrow<T>(factors.apply(drawn.words[k], widen(x[i])));
    }
  }
}

}  // namespace

template <typename T>
void apply_dropout(Stream stream, const Dropout& dropout, const T* x, T* y, std::size_t count) {
  if (count == 0) return;
  const Factors factors{dropout.p, scale_of(dropout)};
  const bool packed = is_aligned(x, kWords * sizeof(T)) && is_aligned(y, kWords * sizeof(T));
  launch("dropout", dropout_kernel<T>, stream, shape_for(count / kWords + 2), dropout, factors, x,
         y, count, packed);
}

template void apply_dropout(Stream, const Dropout&, const float*, float*, std::size_t);
template void apply_dropout(Stream, const Dropout&, const Half*, Half*, std::size_t);
template void apply_dropout(Stream, const Dropout&, const Bfloat16*, Bfloat16*, std::size_t);

}  // namespace trainscope::kernels
