// The scaling curve: throughput over the number of GPUs, with the ideal beside it.
#pragma once

#include "analysis/advice/scaling.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// What curves that stand beside one another are drawn to.
struct ScalingRange {
  int gpus = 1;
  double samples_per_s = 1;

  // Makes room for a curve and its ideal.
  void include(const analysis::ScalingCurve& curve);
};

// A is drawn solid, B outlined.
void paint_scaling(const Theme& theme, const Box& box, const analysis::ScalingCurve& curve,
                   const ScalingRange& range, bool solid);

}  // namespace trainscope::ui
