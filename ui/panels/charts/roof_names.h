// Where the names of a roofline's roofs may stand, and the room that they need. Pixels; pure.
#pragma once

#include <vector>

#include "ui/panels/charts/line_labels.h"

namespace trainscope::ui {

// From its left end to its right one; between them it may be named.
struct Roof {
  ImVec2 from, to;
  bool above = true;  // is where its name is looked for first
};

// The places for words of `size`, from the roof's right end on: beside it, then further and further
// away. `scale`: of the display.
std::vector<LineLabels::Place> places_of(const Roof& roof, ImVec2 size, float scale);

}  // namespace trainscope::ui
