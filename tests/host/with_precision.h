// Operations of host/ run as tensor cores do: on rounded inputs, with sums in FP32 and a rounded
// output (host/cast.h says why that is the same).
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "host/cast.h"

namespace trainscope::host {

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
