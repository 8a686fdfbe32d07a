#include "kernels/dropout.h"

#include <cmath>

#include "base/random.h"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// Words that Philox gives at once.
constexpr int kWords = 4;

// A word's upper 24 bits, times 2^-24, are unit_float, exactly; so is p times 2^24, whatever p. An
// integer is at least that number where it is at least the next integer: the decisions are those of
// unit_float(word) >= p.
struct Decision {
  std::uint32_t least;
  float scale;

  explicit Decision(const Dropout& dropout)
      : least(static_cast<std::uint32_t>(std::ceil(dropout.p * 0x1p24F))),
        scale(scale_of(dropout)) {}

  __device__ float apply(std::uint32_t word, float value) const {
    return (word >> 8U) >= least ? value * scale : 0.0F;
  }
};

template <int kCount>
struct Words {
  std::uint32_t values[kCount];
};

template <int kCount>
__device__ Words<kCount> words_from(const Dropout& dropout, std::uint64_t block) {
  Words<kCount> words;
  for (int b = 0; b < kCount / kWords; ++b) {
    const PhiloxCounter drawn =
        random_block(dropout.seed, block + static_cast<std::uint64_t>(b), dropout.stream);
    for (int k = 0; k < kWords; ++k) words.values[b * kWords + k] = drawn.words[k];
  }
  return words;
}

// An item is as many blocks of Philox as a pack of 16 bytes has values for. Only the first and the
// last item may have words that belong to no value.
template <typename T>
__global__ void dropout_kernel(Dropout dropout, Decision decision, const T* x, T* y,
                               std::size_t count, bool packed) {
  constexpr int kPack = kPackOf<T>;
  const std::uint64_t offset = dropout.first_word();
  const std::uint64_t last_word = offset + count;
  const std::uint64_t first_word = offset / kWords * kWords;
  if (offset % kWords != 0) packed = false;
  for (std::uint64_t word = first_word + first_item() * kPack; word < last_word;
       word += item_step() * kPack) {
    if (packed && word + kPack <= last_word) {
      Pack<T, kPack> pack =
          load_pack<kPack>(x + (word - offset));  // under way while words are drawn
      const Words<kPack> drawn = words_from<kPack>(dropout, word / kWords);
      for (int k = 0; k < kPack; ++k)
        pack.values[k] = narrow<T>(decision.apply(drawn.values[k], widen(pack.values[k])));
      store_pack(y + (word - offset), pack);
      continue;
    }
    const Words<kPack> drawn = words_from<kPack>(dropout, word / kWords);
    for (int k = 0; k < kPack; ++k) {
      if (word + k < offset || word + k >= last_word) continue;
      const std::size_t i = word + k - offset;
      y[i] = narrow<T>(decision.apply(drawn.values[k], widen(x[i])));
    }
  }
}

}  // namespace

template <typename T>
void apply_dropout(Stream stream, const Dropout& dropout, const T* x, T* y, std::size_t count) {
  if (count == 0) return;
  const bool packed = is_aligned(x) && is_aligned(y);
  launch("dropout", dropout_kernel<T>, stream, shape_for(count / kPackOf<T> + 2), dropout,
         Decision(dropout), x, y, count, packed);
}

template void apply_dropout(Stream, const Dropout&, const float*, float*, std::size_t);
template void apply_dropout(Stream, const Dropout&, const Half*, Half*, std::size_t);
template void apply_dropout(Stream, const Dropout&, const Bfloat16*, Bfloat16*, std::size_t);

}  // namespace trainscope::kernels
