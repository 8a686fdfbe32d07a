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

}  // namespace

template <typename T>
void scale_by(Stream stream, const T* x, float factor, const float* number, T* y,
              std::size_t count) {
  map("scale_by", stream, Scaled{factor, number}, count, y, x);
}

void invert(Stream stream, const float* number, float* inverse) {
  launch("invert", invert_kernel, stream, Shape{{1, 1, 1}, {1, 1, 1}}, number, inverse);
}

template void scale_by(Stream, const float*, float, const float*, float*, std::size_t);
template void scale_by(Stream, const Half*, float, const float*, Half*, std::size_t);
template void scale_by(Stream, const Bfloat16*, float, const float*, Bfloat16*, std::size_t);

}  // namespace trainscope::kernels
