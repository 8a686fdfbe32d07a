// Brings before a learner's eyes what the lesson's step means: a panel to the front, the span that
// is explained or asked for, the knob or the line that is spoken of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/panels/window/context.h"

namespace trainscope::ui {

class StepGuide {
 public:
  StepGuide(Workspace& workspace, Attention& attention)
      : workspace_(workspace), attention_(attention) {}

  // Once for each step, when its runs are there: a step that points at a panel brings it to the
  // front, one that explains a span zooms to it, and one that asks for a span brings its lane into
  // sight. True when that was done. `asked`: actions to run once the frame is drawn.
  bool follow(std::vector<std::string>& asked);

  // What the step asks for or points at, for whoever asks to be shown: that is no answer.
  void show_me();

 private:
  void show_panel_of(const scenario::Step& step);
  void show_explained_span(const scenario::Focus* focus,  // null: the step explains none
                           std::vector<std::string>& asked);
  void show_where_to_look(const scenario::Focus& asked);  // of a step that asks for a span
  bool show_answer(scenario::Focus asked);                // false: the run has no such span
  void line_up_with(const scenario::Focus& focus);
  void put_playhead(std::size_t side, Nanos time);  // at a side's own time

  Workspace& workspace_;
  Attention& attention_;
  std::pair<std::string, std::size_t> pointed_at_;  // the lesson and step of which it was shown
  std::optional<TimeRange> explained_range_;        // what was zoomed to for that step
  std::optional<Nanos> explained_offset_;           // of B, so that the same work meets
};

// What a step asks to be found; null: it asks for no span.
const scenario::Focus* asked_span(const scenario::Step& step);

}  // namespace trainscope::ui
