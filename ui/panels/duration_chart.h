// How long one operation took, each time: A's durations and B's over the same bounds.
#pragma once

#include "analysis/operations.h"
#include "ui/app/shapes.h"

namespace trainscope::ui {

// A filled, B outlined; the card under the mouse counts. Of one run there is no word of A and B.
void paint_durations(const Theme& theme, const Box& box, const analysis::OperationRow& row,
                     bool of_two);

}  // namespace trainscope::ui
