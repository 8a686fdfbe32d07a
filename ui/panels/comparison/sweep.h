// One knob's values, or two knobs', run on all cores: how a metric goes over them, with A and B
// where they stand now. Points appear as they come; a click on one is its value for B, with Shift
// for A.
#pragma once

#include <string>

#include "ui/app/views/sweep_form.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct SweepPanel {
  SweepForm form;
  bool begun = false;   // the form holds something
  bool editing = true;  // its fields are open
  std::string search;   // in a list of knobs that is open
  std::string error;    // why the form is no sweep, as a sentence
  bool asked = false;   // what was in the workspace was taken over
};

// The form for a knob, with values around those that it has now.
SweepForm sweep_form_for(const Workspace& workspace, const std::string& knob);

// The knob to begin with: the one pointed at, else the lesson's sweep's or first, else the first in
// which the sides differ.
std::string knob_to_sweep(const Workspace& workspace, const Attention& attention);

// Fills the form and starts.
void begin_sweep(Workspace& workspace, SweepPanel& panel, const std::string& knob);

// Asks for the actions "sweep.cancel" and, of a click on a point, "sweep-take SIDE POINT".
void draw_sweep_panel(const PanelContext& context, SweepPanel& panel, const char* name,
                      const char* beside, bool* open);

}  // namespace trainscope::ui
