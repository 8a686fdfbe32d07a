// The chart of the roofline panel: both axes logarithmic, roofs as lines, kernels as points whose
// area is their time.
#pragma once

#include <vector>

#include "analysis/views/roofline.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct RooflineSide {
  std::size_t side = 0;  // 0: A, drawn solid; 1: B, outlined
  const analysis::Roofline* roofline = nullptr;
  const machine::Gpu* gpu = nullptr;  // null: not known, and no roofs
};

Color bound_color(const Theme& theme, machine::Bound bound);

// At least one side has a kernel that calculates. The mouse on a point tells what it is.
void paint_roofline(const Theme& theme, const char* id, const Box& box,
                    const std::vector<RooflineSide>& sides);

}  // namespace trainscope::ui
