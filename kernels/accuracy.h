// How many rows have their largest value at their target: (x.argmax(1) == y).sum(). CPU reference:
// src/host/accuracy.h.
//
// x [rows, columns] FP32, targets [rows]. Of equal values the first is the largest; a NaN is larger
// than any number. Rows whose target is kIgnoredTarget (cross_entropy.h) count nowhere. Exact up to
// 2^24 rows.
#pragma once

#include "kernels/cross_entropy.h"

namespace trainscope::kernels {

// Floats to work in.
std::size_t count_correct_workspace(std::size_t rows);

// Adds to what *correct holds.
void count_correct(Stream stream, const Matrix& shape, const float* x, const std::int64_t* targets,
                   float* workspace, float* correct);

}  // namespace trainscope::kernels
