// How a metric goes over a sweep: lines over one knob's values, a heat map over two.
#pragma once

#include <optional>
#include <vector>

#include "scenario/sweep.h"
#include "ui/app/views/sweep_form.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct SweepLook {
  bool titled = true;                // the metric's name above
  std::vector<PresentSide> present;  // marked where they stand now
};

// Where the points came to stand: a column of the chart each, or a cell of the map. Empty where
// there is nothing to draw yet.
using SweepColumns = std::vector<Box>;

// One chart of a sweep with one or two axes. Values of a knob stand at equal distances, whatever
// they are. Lines: of each side; a heat map: of the side `side` alone. What has not arrived is left
// out; a cross (in a map: a hatch) stands where a run could not begin or ended early. A point
// or bar that is to be read with care is hollow; a cell of a map has a ring in a corner.
SweepColumns paint_sweep_lines(const Theme& theme, const Box& box, const scenario::Sweep& sweep,
                               const analysis::Metric& metric, const SweepLook& look = {});
SweepColumns paint_sweep_map(const Theme& theme, const Box& box, const scenario::Sweep& sweep,
                             const analysis::Metric& metric, std::size_t side,
                             const SweepLook& look = {});

// In what a value is written on a cell of that colour: what stands out most, on a plate where not
// even that is enough.
struct MapInk {
  Color color;
  std::optional<Color> plate;
};
MapInk map_ink(const Theme& theme, Color ground);

// What stands there, as the key to it: a cross, in a map a hatch. Returns how wide it is.
float draw_failure_key(const Theme& theme, ImVec2 middle_left, bool map);
// The same of what is to be read with care: a ring.
float draw_caveat_key(const Theme& theme, ImVec2 middle_left);

}  // namespace trainscope::ui
