// One control for one knob of one side, by the knob's type.
#pragma once

#include "ui/panels/comparison/knobs.h"

namespace trainscope::ui {

// Where a handle stands (0..1) for a number, logarithmic over wide ranges, and back.
double share_of(const program::Knob& knob, double value);
double value_at(const program::Knob& knob, double share);

// The value that an arrow key leads to, up (1) or down (-1): the double or the half, a quarter more
// or less, or the next whole number, as the knob's range is; within the registry's range.
program::Value stepped(const program::Knob& knob, const program::Value& now, int direction);

// Draws at the cursor and sets the workspace's knob when it was changed.
void knob_control(const PanelContext& context, KnobsPanel& panel, const program::Knob& knob,
                  std::size_t side, float width);

// How much width the control of a side wants.
bool is_wide(const program::Knob& knob);

}  // namespace trainscope::ui
