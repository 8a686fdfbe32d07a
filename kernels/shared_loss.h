// A loss of logits whose classes ranks share out: what each of them computes between the
// collectives (torch/distributed/tensor/parallel/loss.py). CPU reference: src/host/shared_loss.h.
//
// x, y [rows, columns]: a rank's classes, `begin` and those behind it; of the columns the first
// `count` are classes. All FP32. Sums are of a few units in the last place of Σ |x|.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

struct OwnClasses {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// A number a row: the largest, minus infinity where there is no class.
void row_maxima(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                float* maxima);
void row_sums(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
              float* sums);
// Each row less its number.
void shift_rows(Stream stream, const Matrix& shape, const float* x, const float* shifts, float* y);
// 0 where there is no class.
void exponentials(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                  float* y);
void logarithms(Stream stream, const float* x, std::size_t count, float* y);
// Each row's number at its target; 0 where that is another rank's, or ignored.
void pick_targets(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                  const std::int64_t* targets, float* picked);
// -1 there, and 0 everywhere else.
void mark_targets(Stream stream, const Matrix& shape, const OwnClasses& own,
                  const std::int64_t* targets, float* y);

}  // namespace trainscope::kernels
