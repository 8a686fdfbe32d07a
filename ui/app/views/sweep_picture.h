// A sweep as a picture, drawn off screen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scenario/sweep.h"
#include "ui/app/window/theme_mode.h"

namespace trainscope::ui {

struct SweepPicture {
  std::string title;               // what was run
  std::vector<std::string> sides;  // a line each: where and with what
  int width = 1920;                // pixels
  int height = 1080;
  float scale = 1;
  ThemeMode theme = ThemeMode::kDark;
  bool room = false;  // type to be read from the back of one
};

// One knob: a chart for each of the metrics that tell most. Two: a heat map of the first of them
// for each side. Sides of which the same is said are drawn as one. Throws InputError for more knobs
// and for a file that cannot be written, MissingError when OSMesa is missing.
void draw_sweep(const scenario::Sweep& sweep, const SweepPicture& picture,
                const std::filesystem::path& png);

}  // namespace trainscope::ui
