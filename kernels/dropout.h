// Dropout in training, with no mask stored: torch.nn.functional.dropout. CPU reference:
// src/host/dropout.h, whose mask this is, bit for bit.
//
// y[i] = x[i] / (1 - p) where unit_float(word `offset` + i of the Philox stream) >= p, else 0
// (base/random.h). Backward is the same on dy. Error: one rounding of the factor, one of the
// product, one to T: float, Half, Bfloat16. y may be x.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

struct Dropout {
  float p = 0.5F;  // the share that is dropped, 0 to 1
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t offset = 0;
  // In device memory: added to the offset when the kernel runs; null: nothing.
  const std::uint64_t* base = nullptr;

  __device__ std::uint64_t first_word() const { return base ? offset + *base : offset; }
};

// 1 / (1 - p); 0 where all is dropped.
inline float scale_of(const Dropout& dropout) {
  const double kept = 1 - static_cast<double>(dropout.p);
  return kept > 0 ? static_cast<float>(1 / kept) : 0;
}

template <typename T>
void apply_dropout(Stream stream, const Dropout& dropout, const T* x, T* y, std::size_t count);

}  // namespace trainscope::kernels
