// What the steps of all optimizers share.
#pragma once

#include "kernels/map.cuh"
#include "kernels/optimizers.h"

namespace trainscope::kernels {

// Values that a thread takes at once: 16 bytes of FP32.
inline constexpr int kStepPack = 4;

inline __device__ bool is_skipped(const ScaledStep& scaled) {
  return scaled.found_inf != nullptr && *scaled.found_inf != 0;
}

inline __device__ float inverse_scale(const ScaledStep& scaled) {
  return scaled.scale == nullptr ? 1.0F : 1 / *scaled.scale;
}

template <typename G>
std::size_t step_packs(const ParameterArrays<G>& arrays, bool others_aligned) {
  const bool aligned = is_aligned(arrays.gradient, kStepPack * sizeof(G)) &&
                       is_aligned(arrays.rounded, kStepPack * sizeof(G)) &&
                       is_aligned(arrays.parameter) && others_aligned;
  return aligned ? arrays.count / kStepPack : 0;
}

inline Shape step_shape(std::size_t count, std::size_t packs) {
  return shape_for(packs + count - packs * kStepPack);
}

// Stores `kCount` parameters, and their rounded copy where there is one.
template <int kCount, typename G>
__device__ void store_parameters(const ParameterArrays<G>& arrays, std::size_t i,
                                 const Pack<float, kCount>& parameters) {
  store_pack(arrays.parameter + i, parameters);
  if (arrays.rounded == nullptr) return;
  Pack<G, kCount> rounded;
  for (int k = 0; k < kCount; ++k) rounded.values[k] = narrow<G>(parameters.values[k]);
  store_pack(arrays.rounded + i, rounded);
}

}  // namespace trainscope::kernels
