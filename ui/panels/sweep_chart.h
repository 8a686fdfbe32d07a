// How a metric goes over a sweep: lines over one knob's values, a heat map over two.
#pragma once

#include "scenario/sweep.h"
#include "ui/app/shapes.h"

namespace trainscope::ui {

// One chart of a sweep with one or two axes. Values of a knob stand at equal distances, whatever
// they are. Lines: of each side; a heat map: of the side `side` alone.
void paint_sweep_lines(const Theme& theme, const Box& box, const scenario::Sweep& sweep,
                       const analysis::Metric& metric);
void paint_sweep_map(const Theme& theme, const Box& box, const scenario::Sweep& sweep,
                     const analysis::Metric& metric, std::size_t side);

}  // namespace trainscope::ui
