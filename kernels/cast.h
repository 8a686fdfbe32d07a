// Casts between FP32, FP16 and BF16: tensor.to(dtype). CPU reference: src/host/float_types.h,
// cast.h.
//
// To nearest, ties to even; overflow to infinity, underflow through subnormals to zero. Exact. (A
// NaN stays a NaN; a device writes its own payload.)
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// Any of float, Half and Bfloat16 to any other.
template <typename From, typename To>
void cast(Stream stream, const From* from, To* to, std::size_t count);

}  // namespace trainscope::kernels
