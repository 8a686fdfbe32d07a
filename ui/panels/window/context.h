// What every panel gets: how to draw, what is shown, and where to ask for actions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/app/views/path_view.h"
#include "ui/app/views/timeline_notes.h"
#include "ui/app/views/timeline_search.h"
#include "ui/app/window/shapes.h"
#include "ui/app/window/theme.h"
#include "ui/app/workspace/workspace.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// What the panels share of what a person looks at.
struct Attention {
  TimelineState timeline;
  TimelineSearch search;
  PathView path;
  NoteDesk notes;
  std::size_t code_side = 0;        // whose listing is shown
  std::uint16_t code_line = 0;      // hovered in the listing; 0: none
  std::uint16_t followed_line = 0;  // the listing was last scrolled for; 0: none, as from the top
  // A line of a listing that the lesson points at; 0: none.
  std::size_t focused_side = 0;
  std::uint16_t focused_line = 0;
  bool all_parameters = false;     // the whole list of knobs is open
  std::string asked_panel;         // to be opened and go to the front, by a lesson's name of it
  std::string tab_to_show;         // the same, but only where it is open, and keys stay
  std::string lit_knob;            // a knob the lesson points at
  bool follow_knob = false;        // it is to be scrolled to, once
  std::string pointed_knob;        // a knob under the mouse; empty: none
  bool memory_lanes = false;       // the timelines show the lanes that count memory
  bool timeline_has_keys = false;  // the mouse or the focus is on the timelines
  Box find_action{};               // where "Find an action" stands in the top bar
};

struct PanelContext {
  const Theme& theme;
  Workspace& workspace;
  Attention& attention;
  std::vector<std::string>& asked;                   // actions to run once the frame is drawn
  const std::function<bool(std::string_view)>& can;  // is an action enabled?
  // The window of a panel whose title a person has pressed, among those that share a place.
  std::string& chosen_panel;

  void ask(std::string_view action) const { asked.emplace_back(action); }
};

// The span selected, else the one hovered; kNone: neither.
SpanRef span_of_interest(const Attention& attention);

}  // namespace trainscope::ui
