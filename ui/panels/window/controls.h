// Controls in the window's own style: switch, slider, segmented buttons, field, notice cards.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// Items of ImGui, placed at the cursor; the ids are theirs alone (push one for a row).
bool toggle_switch(const Theme& theme, const char* id, bool& on, bool enabled = true);

// What a person does with a slider.
struct SliderUse {
  bool grabbed = false;   // a press that may become a drag
  bool moved = false;     // the handle is dragged, and stands elsewhere now
  bool released = false;  // and was let go
  int steps = 0;          // by the arrow keys, while it has the keys: -1, 0 or 1
  bool types = false;     // a double click, or Enter: the value is to be typed
  bool types_by_mouse = false;
};

// A handle on a track; `share` is 0..1.
SliderUse slider(const Theme& theme, const char* id, float width, double& share,
                 bool enabled = true);

// One of several words; a word that is not `built` cannot be chosen. True when `chosen` changed.
bool segments(const Theme& theme, const char* id, float width, std::span<const std::string> words,
              std::span<const std::string> built, std::string& chosen, bool enabled = true);

// A list that opens below its field, with the next item's width, in the face and size that are
// pushed. ImGui::EndCombo() where this returned true.
bool begin_list(const Theme& theme, const char* id, const std::string& chosen);

// A small square button with one drawn symbol.
enum class Symbol : std::uint8_t { kStart, kBack, kPlay, kPause, kForward, kEnd };
bool symbol_button(const Theme& theme, const char* id, Symbol symbol, bool primary, float width,
                   bool enabled = true);

// What a link of small words takes in a bar of such, with the room around them.
float small_link_width(const Theme& theme, std::string_view words);

// A sentence in an edged card: what went wrong, or what there is to know.
enum class Tone : std::uint8_t { kPlain, kGood, kBad };
void notice_card(const Theme& theme, Tone tone, std::string_view title, std::string_view sentence);
// The same in a line, or two, where there is no room for more: all of it or, where that is more
// than two, up to its first semicolon; the whole sentence under the mouse.
void notice_line(const Theme& theme, Tone tone, const std::string& title,
                 const std::string& sentence);

// A line across the region with room above and below.
void separator(const Theme& theme, float room);

}  // namespace trainscope::ui
