#include "kernels/average_pool.h"

#include "kernels/block.cuh"
#include "kernels/map.cuh"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 64;

// A block for a channel of an image.
template <typename T>
__global__ void average_pool_kernel(Image shape, const T* x, T* y) {
  const auto n = static_cast<int>(blockIdx.x) / shape.channels;
  const auto c = static_cast<int>(blockIdx.x) % shape.channels;
  float own = 0;
  for (auto pixel = static_cast<int>(threadIdx.x); pixel < shape.pixels();
       pixel += static_cast<int>(blockDim.x)) {
    own += widen(x[shape.at(n, c, pixel)]);
  }
  const float total = block_sum(own);
  if (threadIdx.x == 0) y[blockIdx.x] = narrow<T>(total / static_cast<float>(shape.pixels()));
}

}  // namespace

template <typename T>
void average_pool_forward(Stream stream, const Image& shape, const T* x, T* y) {
  const auto blocks = static_cast<unsigned>(shape.batch * shape.channels);
  if (blocks == 0) return;
  launch("average_pool_forward", average_pool_kernel<T>, stream,
         Shape{{blocks, 1, 1}, {kThreads, 1, 1}}, shape, x, y);
}

template <typename T>
void average_pool_backward(Stream stream, const Image& shape, const T* dy, T* dx) {
  map("average_pool_backward", stream, AveragePoolGradient<T>{shape, dy}, shape.size(), dx);
}

template void average_pool_forward(Stream, const Image&, const float*, float*);
template void average_pool_forward(Stream, const Image&, const Half*, Half*);
template void average_pool_forward(Stream, const Image&, const Bfloat16*, Bfloat16*);
template void average_pool_backward(Stream, const Image&, const float*, float*);
template void average_pool_backward(Stream, const Image&, const Half*, Half*);
template void average_pool_backward(Stream, const Image&, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
