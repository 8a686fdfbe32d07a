#include "kernels/gradient_norm.h"

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/tensors.cuh"

namespace trainscope::kernels {
namespace {

template <typename T>
using Gradient = Tensor<const T>;

template <typename T>
inline constexpr bool kIsNarrow = !std::is_same_v<T, float>;

// A part of the sum for each block.
template <typename T>
__global__ void __launch_bounds__(kChunkThreads)
    squares_kernel(const __grid_constant__ TensorTable<Gradient<T>> table, float* parts) {
  constexpr int kPack = kPackOf<T>;
  const auto chunk = chunk_of_block(table);
  const T* gradient = chunk.tensor.values;
  float own = 0;
  const auto load = [&](auto width, std::size_t i) {
    return load_pack<decltype(width)::kValues>(gradient + i);
  };
  const auto use = [&](auto, const auto& pack, std::size_t) {
    for (const T value : pack.values) {
      const float g = widen(value);
      own += g * g;
    }
  };
  for_chunk<kPack, kOwnPacks<kPack>>(chunk, is_aligned(gradient), load, use);
  const float total = block_sum(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// A block for each gradient of a table, whose blocks' parts it adds up: its norm, as its type holds
// that, or the square of it.
template <typename T, bool kSquared>
__global__ void norms_kernel(const __grid_constant__ TensorTable<Gradient<T>> table,
                             const float* parts, float* norms) {
  const std::uint32_t tensor = blockIdx.x;
  const std::uint32_t begin = tensor == 0 ? 0 : table.ends[tensor - 1];
  float own = 0;
  for (std::uint32_t i = begin + threadIdx.x; i < table.ends[tensor]; i += blockDim.x)
    own += parts[i];
  const float total = block_sum(own);
  if (threadIdx.x != 0) return;
  const float norm = widen(narrow<T>(sqrtf(total)));
  norms[tensor] = kSquared ? norm * norm : norm;
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

template <typename Table>
Shape block_for_each(const Table& table, const Shape& chunks) {
  return {{table.tensors, 1, 1}, chunks.threads};
}

// Of narrow gradients a number by a tensor is the tensor's reciprocal times the number.
template <typename T>
__device__ float wanted_factor(float norm, float max_norm) {
  const float more = widen(narrow<T>(norm + 1e-6F));
  if constexpr (!kIsNarrow<T>) return max_norm / more;
  return widen(narrow<T>(widen(narrow<T>(1 / more)) * max_norm));
}

template <typename T>
__global__ void __launch_bounds__(kChunkThreads)
    clip_kernel(const __grid_constant__ TensorTable<Tensor<T>> table, const float* norm,
                float max_norm) {
  const float wanted = wanted_factor<T>(*norm, max_norm);
  const float factor = wanted > 1 ? 1.0F : wanted;
  map_chunk(chunk_of_block(table), [&](float g) { return g * factor; });
}

}  // namespace

std::size_t squares_workspace(std::size_t count) {
  return chunks_of(count) + 1;
}

template <typename T>
void gradient_norm(Stream stream, std::span<const Tensor<const T>> gradients, float* workspace,
                   float* norm) {
  std::size_t parts = 0;
  for (const Gradient<T>& gradient : gradients) parts += chunks_of(gradient.count);
  float* const squares = workspace + parts;
  std::size_t done = 0, tensors = 0;
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("squares", squares_kernel<T>, stream, shape, table, workspace + done);
    if constexpr (kIsNarrow<T>)
      launch("squared_norms", norms_kernel<T, true>, stream, block_for_each(table, shape), table,
             workspace + done, squares + tensors);
    done += shape.blocks.x;
    tensors += table.tensors;
  });
  const float* summed = kIsNarrow<T> ? squares : workspace;
  const std::size_t count = kIsNarrow<T> ? tensors : parts;
  launch("norm", norm_kernel, stream, block_for(count), summed, count, norm);
}

template <typename T>
void gradient_norms(Stream stream, std::span<const Tensor<const T>> gradients, float* workspace,
                    float* norms) {
  std::size_t done = 0, tensors = 0;
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("squares", squares_kernel<T>, stream, shape, table, workspace + done);
    launch("norms", norms_kernel<T, false>, stream, block_for_each(table, shape), table,
           workspace + done, norms + tensors);
    done += shape.blocks.x;
    tensors += table.tensors;
  });
}

template <typename T>
void clip_gradients(Stream stream, const float* norm, float max_norm,
                    std::span<const Tensor<T>> gradients) {
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("clip_gradients", clip_kernel<T>, stream, shape, table, norm, max_norm);
  });
}

template void gradient_norm<float>(Stream, std::span<const Tensor<const float>>, float*, float*);
template void gradient_norm<Half>(Stream, std::span<const Tensor<const Half>>, float*, float*);
template void gradient_norm<Bfloat16>(Stream, std::span<const Tensor<const Bfloat16>>, float*,
                                      float*);
template void gradient_norms<float>(Stream, std::span<const Tensor<const float>>, float*, float*);
template void gradient_norms<Half>(Stream, std::span<const Tensor<const Half>>, float*, float*);
template void gradient_norms<Bfloat16>(Stream, std::span<const Tensor<const Bfloat16>>, float*,
                                       float*);
template void clip_gradients<float>(Stream, const float*, float, std::span<const Tensor<float>>);
template void clip_gradients<Half>(Stream, const float*, float, std::span<const Tensor<Half>>);
template void clip_gradients<Bfloat16>(Stream, const float*, float,
                                       std::span<const Tensor<Bfloat16>>);

}  // namespace trainscope::kernels
