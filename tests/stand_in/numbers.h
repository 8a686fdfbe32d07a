// Numbers in memory by the types that the libraries name.
#pragma once

#include <library_types.h>

#include <cstddef>

#include "host/float_types.h"

namespace trainscope::stand_in {

inline std::size_t bytes_of(cudaDataType type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_8U ? 1 : 2;
}

inline bool is_known(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

inline float number_at(const void* memory, cudaDataType type, std::size_t i) {
  if (type == CUDA_R_16F) return host::to_float(static_cast<const host::Float16*>(memory)[i]);
  if (type == CUDA_R_16BF) return host::to_float(static_cast<const host::Bfloat16*>(memory)[i]);
  if (type == CUDA_R_8U) return static_cast<const unsigned char*>(memory)[i];
  return static_cast<const float*>(memory)[i];
}

inline void put_number(void* memory, cudaDataType type, std::size_t i, float value) {
  if (type == CUDA_R_16F) {
    static_cast<host::Float16*>(memory)[i] = host::to_float16(value);
  } else if (type == CUDA_R_16BF) {
    static_cast<host::Bfloat16*>(memory)[i] = host::to_bfloat16(value);
  } else if (type == CUDA_R_8U) {
    static_cast<unsigned char*>(memory)[i] = static_cast<unsigned char>(value);
  } else {
    static_cast<float*>(memory)[i] = value;
  }
}

}  // namespace trainscope::stand_in
