// The roofline: every kernel of a run as a point, by what it does with a byte and how fast, under
// the roofs of its GPU; and what a step is bound by.
#pragma once

#include "analysis/views/roofline.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct RooflinePanel {
  struct SideFacts {
    RunPointer run;  // that the rest is of
    analysis::Roofline roofline;
  };
  SideFacts sides[2];
  RunPointer asked_for;  // a file's run of which a person asked to see it
};

// Whether a side's run has kernels on a GPU.
bool has_roofline(const Workspace& workspace);

// The same, and something is known of them, or it was asked for: a file of which nothing is known
// gives its room to the timeline otherwise.
bool shows_roofline(const PanelContext& context, RooflinePanel& panel);

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_roofline(const PanelContext& context, RooflinePanel& panel, const char* name,
                   const char* beside, bool* open);

}  // namespace trainscope::ui
