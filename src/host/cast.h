// Casting to FP16, BF16 or TF32 with the result kept in FP32.
//
// tensor.to(dtype).float() in PyTorch. A rounded value is one that the narrow type has, so an FP32
// operation on rounded inputs, its output rounded once, is the operation of a tensor core: products
// are exact in FP32, sums are in FP32, the result is rounded at the end. (Sums differ in order, and
// tensor cores truncate in theirs; NVIDIA documents neither.)
// Error: half a unit in the last place of the format; none where the format is FP32.
#pragma once

#include <cstdint>

#include "host/views.h"
#include "host/workers.h"
#include "program/program.h"

namespace trainscope::host {

enum class NumberFormat { kFloat32, kTf32, kFloat16, kBfloat16 };

// `to` may be `from`.
void cast(NumberFormat format, Values from, Results to, const Workers& workers = {});
inline void cast(NumberFormat format, Results values, const Workers& workers = {}) {
  cast(format, values, values, workers);
}

// One number.
float rounded(NumberFormat format, float value);

// Of numbers as a buffer of that type holds them; TF32 lies there as FP32.
NumberFormat format_of(program::ElementType type);

// What a cast would lose: finite values that become 0 (having been none), subnormal or infinite.
struct CastLosses {
  std::int64_t to_zero = 0;
  std::int64_t to_subnormal = 0;
  std::int64_t to_infinity = 0;
};
CastLosses cast_losses(NumberFormat format, Values values);

}  // namespace trainscope::host
