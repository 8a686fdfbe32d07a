#include "ui/app/window/settings.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/platform.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

constexpr std::array kZoomSteps{kLeastZoom, 0.8F, 0.9F,  1.0F, 1.1F,  1.25F,    1.5F,
                                1.75F,      2.0F, 2.25F, 2.5F, 2.75F, kMostZoom};

constexpr std::size_t kMostLetters = 35;  // of a language's tag

fs::path settings_file() {
  return settings_folder() / "window.txt";
}

}  // namespace

fs::path settings_folder() {
  fs::path folder = platform::settings_folder();
  if (folder.empty()) return folder;
  folder /= "trainscope";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  return folder;
}

float larger_zoom(float zoom) {
  for (const float step : kZoomSteps)
    if (step > zoom * 1.01F) return step;
  return kMostZoom;
}

float smaller_zoom(float zoom) {
  for (auto step = kZoomSteps.rbegin(); step != kZoomSteps.rend(); ++step)
    if (*step < zoom * 0.99F) return *step;
  return kLeastZoom;
}

std::string write_settings(const Settings& settings) {
  return fmt::format("theme {}\nzoom {:.3f}\nroom {}\nlanguage {}\ntour {}\n",
                     name_of(settings.theme), settings.zoom, name_of(settings.room),
                     settings.language.empty() ? "en" : settings.language,
                     settings.toured ? "over" : "due");
}

Settings read_settings(const std::string& text) {
  Settings settings;
  settings.toured = !text.empty();  // settings from before there was a tour: the window is known
  std::istringstream lines(text);
  std::string key, value;
  while (lines >> key >> value) {
    if (key == "theme")
      for (const ThemeMode mode : kThemeModes)
        if (value == name_of(mode)) settings.theme = mode;
    if (key == "room")
      for (const Room room : kRooms)
        if (value == name_of(room)) settings.room = room;
    if (key == "tour") settings.toured = value != "due";
    if (key == "language" && value.size() <= kMostLetters) settings.language = value;
    if (key == "zoom") settings.zoom = std::strtof(value.c_str(), nullptr);
  }
  if (!(settings.zoom >= kLeastZoom && settings.zoom <= kMostZoom)) settings.zoom = 1;
  return settings;
}

Settings load_settings() {
  try {
    return read_settings(read_file(settings_file(), 4096));
  } catch (const Error&) {
    return {};
  }
}

void save_settings(const Settings& settings) {
  try {
    write_file(settings_file(), write_settings(settings));
  } catch (const Error&) {
    // The next time begins with what it always begins with.
  }
}

}  // namespace trainscope::ui
