// What the steps of all optimizers share.
#pragma once

#include "kernels/optimizers.h"
#include "kernels/tensors.cuh"

namespace trainscope::kernels {

// What an operator leaves: rounded to P, or what the next one goes on with.
template <typename P>
__device__ float left_by(bool rounds, float value) {
  return rounds ? widen(narrow<P>(value)) : value;
}

// Values that a thread takes at once: 16 bytes of FP32.
inline constexpr int kStepPack = 4;

inline __device__ bool is_skipped(const ScaledStep& scaled) {
  return scaled.found_inf != nullptr && *scaled.found_inf != 0;
}

inline __device__ float inverse_scale(const ScaledStep& scaled) {
  return scaled.scale == nullptr ? 1.0F : 1 / *scaled.scale;
}

// Whether packs of kStepPack values may be taken of all arrays; null is of none.
template <typename... T>
__device__ bool all_aligned(const T*... arrays) {
  return (is_aligned(arrays, kStepPack * sizeof(T)) && ...);
}

// Stores `kCount` parameters, and their rounded copy where there is one.
template <typename Arrays, typename P, int kCount>
__device__ void store_parameters(const Arrays& arrays, std::size_t i,
                                 const Pack<P, kCount>& parameters) {
  store_pack(arrays.parameter + i, parameters);
  if (arrays.rounded == nullptr) return;
  using G = std::remove_pointer_t<decltype(arrays.rounded)>;
  Pack<G, kCount> rounded;
  for (int k = 0; k < kCount; ++k) rounded.values[k] = narrow<G>(widen(parameters.values[k]));
  store_pack(arrays.rounded + i, rounded);
}

}  // namespace trainscope::kernels
