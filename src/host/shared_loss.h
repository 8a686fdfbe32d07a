// A loss of logits whose classes ranks share out: what each of them computes between the
// collectives (program::SharedLoss; torch/distributed/tensor/parallel/loss.py).
//
// x, y [rows, columns]: a rank's classes, `begin` and those behind it; the last columns may be
// none. Error: sums are in FP64, exponentials and logarithms within two units in the last place.
#pragma once

#include "host/targets.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct OwnClasses {
  std::size_t begin = 0;
  std::size_t count = 0;  // of the columns, the first so many
};

// A number a row: the largest, minus infinity where there is no class.
void row_maxima(const MatrixShape& shape, const OwnClasses& own, Values x, Results maxima,
                const Workers& workers = {});
void row_sums(const MatrixShape& shape, const OwnClasses& own, Values x, Results sums,
              const Workers& workers = {});
// Each row less its number; y may be x.
void shift_rows(const MatrixShape& shape, Values x, Values numbers, Results y,
                const Workers& workers = {});
// 0 where there is no class.
void exponentials(const MatrixShape& shape, const OwnClasses& own, Values x, Results y,
                  const Workers& workers = {});
// y may be x.
void logarithms(Values x, Results y);
// Each row's number at its target; 0 where that is another rank's, or ignored.
void pick_targets(const MatrixShape& shape, const OwnClasses& own, Values x, Targets targets,
                  Results picked);
// -1 there, and 0 everywhere else.
void mark_targets(const MatrixShape& shape, const OwnClasses& own, Targets targets, Results y);

}  // namespace trainscope::host
