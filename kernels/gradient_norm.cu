#include "kernels/gradient_norm.h"

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

std::size_t blocks_for(std::size_t count) {
  constexpr std::size_t kEach = 16 * kThreads;
  constexpr std::size_t kMost = 512;
  return std::clamp<std::size_t>((count + kEach - 1) / kEach, 1, kMost);
}

__global__ void squares_kernel(const float* gradient, std::size_t count, float* parts) {
  float own = 0;
  for (std::size_t i = first_item(); i < count; i += item_step()) own += gradient[i] * gradient[i];
  const float total = block_sum(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// One block.
__global__ void add_parts_kernel(const float* parts, std::size_t count, float* total) {
  float own = 0;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) own += parts[i];
  const float sum = block_sum(own);
  if (threadIdx.x == 0) *total += sum;
}

struct Root {
  __device__ float operator()(std::size_t, float square) const { return sqrtf(square); }
};

struct Clipped {
  const float* norm;
  float max_norm;

  __device__ float operator()(std::size_t, float g) const {
    const float factor = max_norm / (*norm + 1e-6F);
    return g * (factor > 1 ? 1.0F : factor);
  }
};

}  // namespace

std::size_t squares_workspace(std::size_t count) {
  return blocks_for(count);
}

void add_squares(Stream stream, const float* gradient, std::size_t count, float* workspace,
                 float* total) {
  if (count == 0) return;
  const std::size_t blocks = blocks_for(count);
  const Shape all{{static_cast<unsigned>(blocks), 1, 1}, {kThreads, 1, 1}};
  launch("squares", squares_kernel, stream, all, gradient, count, workspace);
  launch("add_parts", add_parts_kernel, stream, Shape{{1, 1, 1}, {kThreads, 1, 1}}, workspace,
         blocks, total);
}

void take_root(Stream stream, float* norm) {
  map("root", stream, Root{}, 1, norm, norm);
}

void clip_gradient(Stream stream, const float* norm, float max_norm, float* gradient,
                   std::size_t count) {
  map("clip_gradient", stream, Clipped{norm, max_norm}, count, gradient, gradient);
}

}  // namespace trainscope::kernels
