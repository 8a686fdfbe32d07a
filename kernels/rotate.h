// Rotary embedding of queries and keys (Su et al., arXiv:2104.09864), a head's first half with its
// second. CPU reference: src/host/rotate.h, which has the formula.
//
// Angles, sines and cosines are FP32, all is computed in FP32 and rounded once to T: float, Half,
// Bfloat16. Error: a few units in the last place of the pair's length. y is not x.
#pragma once

#include <span>

#include "kernels/device.h"

namespace trainscope::kernels {

inline constexpr int kMostFrequencies = 128;  // of heads of at most 256 numbers

struct Rotation {
  std::size_t batch = 0;
  std::size_t length = 0;
  std::size_t heads = 0;
  std::size_t width = 0;  // even
  bool back = false;      // by the negative angles

  std::size_t tokens() const { return batch * length; }
};

// `frequencies`: angles of a step, one a pair of a head's numbers.
template <typename T>
void rotate(Stream stream, const Rotation& shape, std::span<const float> frequencies, const T* x,
            T* y);

}  // namespace trainscope::kernels
