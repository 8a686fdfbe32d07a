#include "kernels/rotate.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

struct Frequencies {
  float values[kMostFrequencies];
};

// A thread has pairs of one frequency, of all heads of a token.
template <typename T>
__global__ void rotate_kernel(const __grid_constant__ Frequencies frequencies, std::size_t tokens,
                              Divisor length, Divisor half, std::size_t heads, float sign,
                              const T* x, T* y) {
  const std::size_t width = 2 * half.by();
  for (std::size_t item = first_item(); item < tokens * half.by(); item += item_step()) {
    const auto place = half.split(item);
    const auto token = static_cast<std::size_t>(place.quotient);
    const auto pair = static_cast<std::size_t>(place.rest);
    const float angle =
        __fmul_rn(static_cast<float>(length.split(token).rest), frequencies.values[pair]);
    const float cosine = cosf(angle), sine = sign * sinf(angle);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t first = (token * heads + head) * width + pair, second = first + half.by();
      const float a = widen(x[first]), b = widen(x[second]);
      y[first] = narrow<T>(a * cosine - b * sine);
      y[second] = narrow<T>(b * cosine + a * sine);
    }
  }
}

}  // namespace

template <typename T>
void rotate(Stream stream, const Rotation& shape, std::span<const float> frequencies, const T* x,
            T* y) {
  if (frequencies.size() > kMostFrequencies)
    throw InputError("rotary embedding takes heads of at most 256 numbers");
  const std::size_t half = shape.width / 2;
  if (shape.tokens() * shape.heads * half == 0) return;
  Frequencies table{};
  std::copy(frequencies.begin(), frequencies.end(), table.values);
  launch("rotate", rotate_kernel<T>, stream, shape_for(shape.tokens() * half), table,
         shape.tokens(), Divisor(shape.length), Divisor(half), shape.heads,
         shape.back ? -1.0F : 1.0F, x, y);
}

template void rotate(Stream, const Rotation&, std::span<const float>, const float*, float*);
template void rotate(Stream, const Rotation&, std::span<const float>, const Half*, Half*);
template void rotate(Stream, const Rotation&, std::span<const float>, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
