// How large a picture is and in which colours, from the words of the command line. Only where there
// is a window.
#pragma once

#include "cli/commands.h"
#include "ui/app/trainscope_window.h"

namespace trainscope::cli {

struct PictureLook {
  int width = 1920;  // pixels, the scale included
  int height = 1080;
  float scale = 1;
  ui::ThemeMode theme = ui::ThemeMode::kDark;
};

// Throws InputError for a size or a theme that there is not.
PictureLook picture_look(const Look& look);

}  // namespace trainscope::cli
