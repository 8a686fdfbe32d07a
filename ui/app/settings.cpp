#include "ui/app/settings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

fs::path settings_file() {
  return settings_folder() / "window.txt";
}

}  // namespace

fs::path settings_folder() {
  fs::path folder;
  if (const char* config = variable("XDG_CONFIG_HOME"))
    folder = fs::path(config) / "trainscope";
  else if (const char* home = variable("HOME"))
    folder = fs::path(home) / ".config" / "trainscope";
  std::error_code ignored;
  if (!folder.empty()) fs::create_directories(folder, ignored);
  return folder;
}

Settings load_settings() {
  Settings settings;
  try {
    std::istringstream lines(read_file(settings_file(), 4096));
    std::string key, value;
    while (lines >> key >> value) {
      if (key == "theme" && value == "light") settings.theme = ThemeMode::kLight;
      if (key == "zoom") settings.zoom = std::strtof(value.c_str(), nullptr);
    }
  } catch (const Error&) {
    return {};
  }
  if (!(settings.zoom >= 0.5F && settings.zoom <= 3)) settings.zoom = 1;
  return settings;
}

void save_settings(const Settings& settings) {
  try {
    write_file(settings_file(),
               fmt::format("theme {}\nzoom {:.3f}\n",
                           settings.theme == ThemeMode::kLight ? "light" : "dark", settings.zoom));
  } catch (const Error&) {
    // The next time begins with what it always begins with.
  }
}

}  // namespace trainscope::ui
