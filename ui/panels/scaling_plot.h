// The scaling curve: throughput over the number of GPUs, with the ideal beside it.
#pragma once

#include "analysis/scaling.h"
#include "ui/app/shapes.h"

namespace trainscope::ui {

// A is drawn solid, B outlined.
void paint_scaling(const Theme& theme, const Box& box, const analysis::ScalingCurve& curve,
                   bool solid);

}  // namespace trainscope::ui
