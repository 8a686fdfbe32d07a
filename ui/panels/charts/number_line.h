// A step's gradients on FP16's number line: regions, bars before and after scaling, the arrow from
// one to the other.
#pragma once

#include "analysis/views/loss_scaling.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// What number lines that stand beside one another are drawn to: powers of two along the line, and
// the share of gradients that is as tall as there is room. Beside it, where any are zero, how many.
struct LineScale {
  int from = -34, to = 20;  // all of FP16's
  double most = 1e-9;
  bool zeros = false;

  // Makes room for what a step has.
  void include(const analysis::ScalingState& state);
};

// The regions are always FP16's, whatever the run computed in.
void draw_number_line(const Theme& theme, const Box& box, const analysis::ScalingState& state,
                      const LineScale& scale);

// The colours of its two heaps.
Color before_color(const Theme& theme);
Color after_color(const Theme& theme);

}  // namespace trainscope::ui
