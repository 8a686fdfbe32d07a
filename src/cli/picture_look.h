// How large a picture is, in which colours and of which time, from the words of the command line.
// Only where there is a window.
#pragma once

#include <optional>

#include "base/time.h"
#include "cli/commands.h"
#include "ui/app/window/trainscope_window.h"

namespace trainscope::cli {

struct PictureLook {
  int width = 1920;  // pixels, the scale included
  int height = 1080;
  float scale = 1;
  ui::ThemeMode theme = ui::ThemeMode::kDark;
};

// Throws InputError for a size or a theme that there is not.
PictureLook picture_look(const Look& look);

// Where the playhead stands; nothing where that is not asked for. Throws InputError for what is no
// time.
std::optional<Nanos> playhead_of(const Look& look);

}  // namespace trainscope::cli
