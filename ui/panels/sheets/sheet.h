// A sheet over the window: the palette, the keys, a file's name. Escape or a click beside it
// closes.
#pragma once

#include <string>

#include "ui/app/workspace/message_log.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// `size` at scale 1; a height of 0 fits what is in it. end_sheet() only when this returned true. It
// stands in the middle, or right of a panel that it is about, where there is room.
bool begin_sheet(const Theme& theme, const char* name, bool& open, ImVec2 size,
                 const char* about = nullptr);
void end_sheet();

// By how much the arrow keys move what is chosen in a sheet's list: down 1, up -1. They do not
// carry the keys from its field to its buttons.
int steps_by_arrows();

// Every action with its key.
void draw_help(const PanelContext& context, bool& open);

// The words of the lesson that is open, and what they mean.
void draw_terms(const PanelContext& context, bool& open);

// What the window has said since it was opened, to be read again and copied.
void draw_log(const PanelContext& context, const MessageLog& log, bool& open);

// The lecturer's notes on the lesson that is open.
void draw_notes(const PanelContext& context, bool& open);

// A path to type, with one button. True once it is confirmed.
struct PathSheet {
  bool open = false;
  bool just_opened = false;
  std::string path;
};
// The sheet's foot: its button, Cancel, and its end. `enter`: was pressed in the path's field. True
// once the path is confirmed.
bool end_path_sheet(const Theme& theme, PathSheet& sheet, const char* confirm, bool enter);
bool draw_path_sheet(const PanelContext& context, PathSheet& sheet, const char* name,
                     const char* hint, const char* confirm);

}  // namespace trainscope::ui
