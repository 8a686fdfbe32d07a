// The timelines of both sides (or of one trace), as the workspace has them.
#pragma once

#include <array>

#include "ui/panels/timelines/path_bar.h"
#include "ui/panels/timelines/range_strip.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct TimelinesPanel {
  std::array<TraceView, 2> seen;  // traces whose lanes have been given their default rows
  RangeStrip range;
  PathFinding path;
};

void draw_timelines(const PanelContext& context, TimelinesPanel& panel, const char* name,
                    bool* open);

// What is drawn: lanes, gaps, guess, markers, playhead. Before the result: lanes without spans.
TimelineInput timeline_input(const Workspace& workspace, const Attention& attention);

// Brings what a lesson's step points at into view; false when there is nothing to find.
bool show_focus(const scenario::Focus& focus, const Workspace& workspace, Attention& attention,
                bool select);

}  // namespace trainscope::ui
