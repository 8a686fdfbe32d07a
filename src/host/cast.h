// Casting to FP16, BF16 or TF32 with the result kept in FP32, and operations run as tensor cores
// do.
//
// tensor.to(dtype).float() in PyTorch. A rounded value is one that the narrow type has, so an FP32
// operation on rounded inputs, its output rounded once, is the operation of a tensor core: products
// are exact in FP32, sums are in FP32, the result is rounded at the end. (Sums differ in order, and
// tensor cores truncate in theirs; NVIDIA documents neither.)
// Error: half a unit in the last place of the format; none where the format is FP32.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
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

// The formats that an operation reads and gives. TF32 is read only: its results are FP32.
struct Precision {
  NumberFormat inputs = NumberFormat::kFloat32;
  NumberFormat outputs = NumberFormat::kFloat32;
};
inline constexpr Precision kFp32{};
inline constexpr Precision kTf32{NumberFormat::kTf32, NumberFormat::kFloat32};
inline constexpr Precision kFp16{NumberFormat::kFloat16, NumberFormat::kFloat16};
inline constexpr Precision kBf16{NumberFormat::kBfloat16, NumberFormat::kBfloat16};

// Calls operation(rounded), an array of the inputs as the precision has them, then rounds the
// outputs. `workspace` holds the rounded inputs: as long as all of them together (none is needed
// for FP32).
template <std::size_t kInputs, std::size_t kOutputs, typename Operation>
void with_precision(const Precision& precision, const std::array<Values, kInputs>& inputs,
                    const std::array<Results, kOutputs>& outputs, Results workspace,
                    const Operation& operation) {
  std::array<Values, kInputs> rounded = inputs;
  if (precision.inputs != NumberFormat::kFloat32) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < kInputs; ++i) {
      assert(begin + inputs[i].size() <= workspace.size());
      const Results room = workspace.subspan(begin, inputs[i].size());
      cast(precision.inputs, inputs[i], room);
      rounded[i] = room;
      begin += room.size();
    }
  }
  operation(rounded);
  for (const Results output : outputs) cast(precision.outputs, output);
}

}  // namespace trainscope::host
