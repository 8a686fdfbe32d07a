// How long one operation took, each time: A's durations and B's over the same bounds.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/operations.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// "312 times, 39.8 us to 52.1 us", "288 times, each 132 us"; of durations in order.
std::string times_words(const std::vector<Nanos>& durations);

// A filled, B outlined; the card under the mouse counts. Of one run there is no word of A and B.
void paint_durations(const Theme& theme, const Box& box, const analysis::OperationRow& row,
                     bool of_two);

}  // namespace trainscope::ui
