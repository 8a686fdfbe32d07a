#include "kernels/bandwidth.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

struct Copied {
  __device__ float operator()(std::size_t, float a) const { return a; }
};

struct Triad {
  float factor;
  __device__ float operator()(std::size_t, float a, float b) const { return a + factor * b; }
};

}  // namespace

void copy_values(Stream stream, const float* a, float* c, std::size_t count) {
  map("copy_values", stream, Copied{}, count, c, a);
}

void triad(Stream stream, const float* a, const float* b, float factor, float* c,
           std::size_t count) {
  map("triad", stream, Triad{factor}, count, c, a, b);
}

}  // namespace trainscope::kernels
