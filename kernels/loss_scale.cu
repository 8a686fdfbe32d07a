#include "kernels/loss_scale.h"

#include "kernels/tensors.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kExponent = 0x7f800000;

__device__ bool is_finite(float value) {
  return (__float_as_uint(value) & kExponent) != kExponent;
}

template <typename T>
__global__ void __launch_bounds__(kChunkThreads)
    unscale_kernel(const __grid_constant__ TensorTable<Tensor<T>> table, const float* inverse,
                   float* found_inf) {
  constexpr int kPack = kPackOf<T>;
  const float factor = inverse == nullptr ? 1.0F : *inverse;
  const auto chunk = chunk_of_block(table);
  T* gradient = chunk.tensor.values;
  bool found = false;
  const auto load = [&](auto width, std::size_t i) {
    return load_pack<decltype(width)::kValues>(gradient + i);
  };
  const auto use = [&](auto, auto pack, std::size_t i) {
    for (T& value : pack.values) {
      const float g = widen(value);
      found |= !is_finite(g);
      value = narrow<T>(g * factor);
    }
    if (inverse != nullptr) store_pack(gradient + i, pack);
  };
  for_chunk<kPack, kOwnPacks<kPack>>(chunk, is_aligned(gradient), load, use);
  if (found) *found_inf = 1;  // whichever thread writes, it writes the same
}

// One thread.
__global__ void update_loss_scale_kernel(LossScaleRule rule, const float* found_inf, float* scale,
                                         std::int32_t* clean_steps) {
  if (*found_inf != 0) {
    *scale = static_cast<float>(*scale * rule.backoff_factor);
    *clean_steps = 0;
    return;
  }
  const std::int32_t clean = *clean_steps + 1;
  if (clean < rule.growth_interval) {
    *clean_steps = clean;
    return;
  }
  const auto grown = static_cast<float>(*scale * rule.growth_factor);
  if (is_finite(grown)) *scale = grown;
  *clean_steps = 0;
}

}  // namespace

template <typename T>
void unscale(Stream stream, std::span<const Tensor<T>> gradients, const float* inverse,
             float* found_inf) {
  for_tables(gradients, [&](const auto& table, const Shape& shape) {
    launch("unscale", unscale_kernel<T>, stream, shape, table, inverse, found_inf);
  });
}

void update_loss_scale(Stream stream, const LossScaleRule& rule, const float* found_inf,
                       float* scale, std::int32_t* clean_steps) {
  const Shape one{{1, 1, 1}, {1, 1, 1}};
  launch("update_loss_scale", update_loss_scale_kernel, stream, one, rule, found_inf, scale,
         clean_steps);
}

template void unscale(Stream, std::span<const Tensor<float>>, const float*, float*);
template void unscale(Stream, std::span<const Tensor<Half>>, const float*, float*);
template void unscale(Stream, std::span<const Tensor<Bfloat16>>, const float*, float*);

}  // namespace trainscope::kernels
