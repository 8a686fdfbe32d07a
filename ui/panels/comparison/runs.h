// Up to six runs as small timelines under one axis, each with one figure: A, B and those that were
// kept.
#pragma once

#include <string>

#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct RunsPanel {
  std::string metric;  // empty: the time that decides which is faster
};

// There is a run that may be seen.
bool has_runs(const Workspace& workspace);

// Asks for the actions "runs-drop NUMBER" and "runs-take NUMBER".
void draw_runs(const PanelContext& context, RunsPanel& panel, const char* name, const char* beside,
               bool* open);

}  // namespace trainscope::ui
