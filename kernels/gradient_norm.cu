#include "kernels/gradient_norm.h"

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/tensors.cuh"

namespace trainscope::kernels {
namespace {

using Gradient = Tensor<const float>;

// A part of the sum for each block.
__global__ void __launch_bounds__(kChunkThreads)
    squares_kernel(const __grid_constant__ TensorTable<Gradient> table, float* parts) {
  constexpr int kPack = kPackOf<float>;
  const auto chunk = chunk_of_block(table);
  const float* gradient = chunk.tensor.values;
  float own = 0;
  const auto load = [&](auto width, std::size_t i) {
    return load_pack<decltype(width)::kValues>(gradient + i);
  };
  const auto use = [&](auto, const auto& pack, std::size_t) {
    for (const float g : pack.values) own += g * g;
  };
  for_chunk<kPack, kOwnPacks<kPack>>(chunk, is_aligned(gradient), load, use);
  const float total = block_sum(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// One block.
__global__ void norm_kernel(const float* parts, std::size_t count, float* norm) {
  float own = 0;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) own += parts[i];
  const float total = block_sum(own);
  if (threadIdx.x == 0) *norm = sqrtf(total);
}

Shape block_for(std::size_t parts) {
  constexpr std::size_t kMost = 1024;
  const std::size_t lanes = std::clamp<std::size_t>(parts, 1, kMost) + kLanes - 1;
  return {{1, 1, 1}, {static_cast<unsigned>(lanes / kLanes * kLanes), 1, 1}};
}

__global__ void __launch_bounds__(kChunkThreads)
    clip_kernel(const __grid_constant__ TensorTable<Tensor<float>> table, const float* norm,
                float max_norm) {
  const float wanted = max_norm / (*norm + 1e-6F);
  const float factor = wanted > 1 ? 1.0F : wanted;
  map_chunk(chunk_of_block(table), [&](float g) { return g * factor; });
}

}  // namespace

std::size_t squares_workspace(std::size_t count) {
  return chunks_of(count);
}

void gradient_norm(Stream stream, std::span<const Gradient> gradients, float* workspace,
                   float* norm) {
  std::size_t parts = 0;
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("squares", squares_kernel, stream, shape, table, workspace + parts);
    parts += shape.blocks.x;
  });
  launch("norm", norm_kernel, stream, block_for(parts), workspace, parts, norm);
}

void clip_gradients(Stream stream, const float* norm, float max_norm,
                    std::span<const Tensor<float>> gradients) {
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("clip_gradients", clip_kernel, stream, shape, table, norm, max_norm);
  });
}

}  // namespace trainscope::kernels
