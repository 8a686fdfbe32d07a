// Adding each position's vector to its token's: x + table[:length]. CPU reference: AddPositions of
// src/host/calculation_layers.cpp.
//
// x, y [batch, length · width], table [at least length · width]: y[b, i] = x[b, i] + table[i];
// dtable[i] = Σ_b dy[b, i], and 0 behind the positions that are used. FP32 sums in the order of b,
// rounded once to T: float, Half, Bfloat16. y may be x.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// `shape`: batch rows of length · width columns.
template <typename T>
void add_positions(Stream stream, const Matrix& shape, const T* x, const T* table, T* y);

// `count`: values of the whole table.
template <typename T>
void add_positions_backward(Stream stream, const Matrix& shape, const T* dy, std::size_t count,
                            T* dtable);

}  // namespace trainscope::kernels
