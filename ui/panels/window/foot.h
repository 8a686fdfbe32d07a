// What stands at the foot of the window over the panels: a notice, and work that takes so long that
// it is waited for.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Whether what began then has taken so long that it is shown.
bool is_waited_for(std::chrono::steady_clock::time_point since);

// A box near the lower edge; to be ended by ImGui::End().
void begin_progress(const Theme& theme, const char* name);
// "Opening run.tsrun", and a button. True when it is pressed.
bool draw_file_progress(const Theme& theme, const char* name, const std::string& words);
// Both sides' runs.
void draw_running_sides(const PanelContext& context);

// A sentence until it is closed. In front of a room nobody closes it: it has been read, and goes.
class NoticeBar {
 public:
  // When it is to be drawn again, though nobody moves the mouse; nothing: when something happens.
  std::optional<std::chrono::steady_clock::time_point> tick(Workspace& workspace);
  void draw(const PanelContext& context, bool card_shown) const;

 private:
  std::string timed_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace trainscope::ui
