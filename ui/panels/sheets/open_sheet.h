// "Open": what was opened lately, and folders to walk through. All of it by keyboard: typing
// narrows, the arrows choose, Enter opens, Backspace goes up, Delete forgets what is gone.
#pragma once

#include <filesystem>

#include "ui/app/files/file_browser.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct OpenSheet {
  bool open = false;
  bool just_opened = false;
  bool beside = false;  // what is chosen comes beside A
  FileBrowser browser;
  std::string words;                // as typed; a folder that is entered empties them
  std::filesystem::path to_forget;  // by the caller, who keeps the list
};

// The file that is to be opened; empty: none now. The sheet stays until the caller closes it, so
// that what is wrong can be said in place.
std::filesystem::path draw_open_sheet(const PanelContext& context, OpenSheet& sheet);

}  // namespace trainscope::ui
