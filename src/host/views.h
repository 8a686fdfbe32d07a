// What operations work on: FP32 numbers that somebody else owns, dense and row by row.
//
// No operation allocates memory; where one needs room to work in, it takes a span and says how
// long. Lengths that do not fit the shape are a programmer's error and asserted. Outputs may not
// overlap inputs unless the operation says that they may be the same.
#pragma once

#include <cstddef>
#include <span>

namespace trainscope::host {

using Values = std::span<const float>;
using Results = std::span<float>;

// A parameter's gradient is written, or added to what is there (gradient accumulation).
enum class Into { kReplace, kAdd };

struct MatrixShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t size() const { return rows * columns; }
};

}  // namespace trainscope::host
