// What the window remembers from one time to the next: theme, interface scale, language.
#pragma once

#include <filesystem>
#include <string>

#include "ui/app/window/room.h"
#include "ui/app/window/theme_mode.h"

namespace trainscope::ui {

struct Settings {
  ThemeMode theme = ThemeMode::kDark;
  float zoom = 1;           // of everything, over the display's own scale
  Room room = Room::kWide;  // that the layout was made for which is kept
  bool toured = false;      // the tour was ended or skipped, and is not shown by itself again
  std::string language;     // of the lessons' texts: "de"; empty: English
};

// The scales that Ctrl + and Ctrl - go through.
inline constexpr float kLeastZoom = 0.75F;
inline constexpr float kMostZoom = 3;
float larger_zoom(float zoom);
float smaller_zoom(float zoom);

// $XDG_CONFIG_HOME/trainscope, else ~/.config/trainscope; %APPDATA%\\trainscope on Windows. Empty
// where there is none of them.
std::filesystem::path settings_folder();

// What cannot be read is as at first; what cannot be written is not remembered.
Settings load_settings();
void save_settings(const Settings& settings);

// The settings as they stand in their file, and back. What cannot be read is as at first.
std::string write_settings(const Settings& settings);
Settings read_settings(const std::string& text);

}  // namespace trainscope::ui
