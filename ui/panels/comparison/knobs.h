// The knobs of both sides: the lesson's few, or (in a run) those in which the sides differ; and the
// whole list.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/knobs.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct KnobsPanel {
  std::string search;
  // Text and numbers while they are typed, handles while they are dragged: by side and knob.
  std::map<std::string, std::string> typed;
  std::map<std::string, double> dragged;
  std::optional<program::Value> before_grab;  // of the slider that was grabbed last
  std::string to_focus;  // a field or slider that takes the keys, by side and knob
  bool compact = false;  // a knob's help stands under the mouse only: there is little room
  std::pair<std::string, std::size_t> step;  // of the lesson that it was drawn for last
};

// The knobs worth showing: the lesson's, those first that its step has one turn (where it points,
// then what its text names); without a lesson those in which the sides differ or that are set.
std::vector<const program::Knob*> shown_knobs(const Workspace& workspace);

void draw_knobs(const PanelContext& context, KnobsPanel& panel, const char* name, bool* open);
// A sheet over the window, while it is open.
void draw_all_parameters(const PanelContext& context, KnobsPanel& panel, bool& open);

}  // namespace trainscope::ui
