#include "kernels/number.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

struct Scaled {
  float factor;
  const float* number;
  __device__ float operator()(std::size_t, float x) const { return x * (factor * *number); }
};

// One thread.
__global__ void invert_kernel(const float* number, float* inverse) {
  *inverse = static_cast<float>(1 / static_cast<double>(*number));
}

template <typename T>
__global__ void look_kernel(const T* values, std::size_t count, float* found_inf) {
  constexpr unsigned kExponent = 0x7f800000;
  for (std::size_t i = first_item(); i < count; i += item_step()) {
    // Whichever thread writes, it writes the same.
    if ((__float_as_uint(widen(values[i])) & kExponent) == kExponent) *found_inf = 1;
  }
}

}  // namespace

template <typename T>
void scale_by(Stream stream, const T* x, float factor, const float* number, T* y,
              std::size_t count) {
  map("scale_by", stream, Scaled{factor, number}, count, y, x);
}

void invert(Stream stream, const float* number, float* inverse) {
  launch("invert", invert_kernel, stream, Shape{{1, 1, 1}, {1, 1, 1}}, number, inverse);
}

template <typename T>
void look_for_infinities(Stream stream, const T* values, std::size_t count, float* found_inf) {
  if (count == 0) return;
  launch("look_for_infinities", look_kernel<T>, stream, shape_for(count), values, count, found_inf);
}

template void scale_by(Stream, const float*, float, const float*, float*, std::size_t);
template void scale_by(Stream, const Half*, float, const float*, Half*, std::size_t);
template void scale_by(Stream, const Bfloat16*, float, const float*, Bfloat16*, std::size_t);
template void look_for_infinities(Stream, const float*, std::size_t, float*);
template void look_for_infinities(Stream, const Half*, std::size_t, float*);
template void look_for_infinities(Stream, const Bfloat16*, std::size_t, float*);

}  // namespace trainscope::kernels
