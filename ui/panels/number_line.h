// A step's gradients on FP16's number line: regions, bars before and after scaling, the arrow from
// one to the other.
#pragma once

#include "analysis/loss_scaling.h"
#include "ui/app/shapes.h"

namespace trainscope::ui {

// The regions are always FP16's, whatever the run computed in.
void draw_number_line(const Theme& theme, const Box& box, const analysis::ScalingState& state);

// The colours of its two heaps.
Color before_color(const Theme& theme);
Color after_color(const Theme& theme);

}  // namespace trainscope::ui
