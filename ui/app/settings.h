// What the window remembers from one time to the next: theme and size of text.
#pragma once

#include <filesystem>

#include "ui/app/theme_mode.h"

namespace trainscope::ui {

struct Settings {
  ThemeMode theme = ThemeMode::kDark;
  float zoom = 1;
};

// $XDG_CONFIG_HOME/trainscope, else ~/.config/trainscope; empty where there is neither.
std::filesystem::path settings_folder();

// What cannot be read is as at first; what cannot be written is not remembered.
Settings load_settings();
void save_settings(const Settings& settings);

}  // namespace trainscope::ui
