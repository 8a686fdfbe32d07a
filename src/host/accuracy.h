// How many rows have their largest value at their target: (x.argmax(1) == targets).sum().
//
// Of equal values the first counts, and a NaN counts as the largest, as in torch.argmax. A row
// whose target is kIgnoredTarget (targets.h) is not right. Exact.
#pragma once

#include <cstddef>

#include "host/targets.h"
#include "host/views.h"

namespace trainscope::host {

// Throws InputError for a target that is no class, naming the row.
std::size_t correct_rows(const MatrixShape& shape, Values x, Targets targets);

// The place of the largest of `values`, at least one of them.
std::size_t argmax(Values values);

}  // namespace trainscope::host
