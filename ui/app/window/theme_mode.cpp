#include "ui/app/window/theme_mode.h"

#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace trainscope::ui {

std::string_view name_of(ThemeMode mode) {
  switch (mode) {
    case ThemeMode::kDark:
      return "dark";
    case ThemeMode::kLight:
      return "light";
    case ThemeMode::kProjector:
      return "projector";
  }
  return "";
}

ThemeMode theme_named(const std::string& name) {
  std::vector<std::string> names;
  for (const ThemeMode mode : kThemeModes) {
    if (name == name_of(mode)) return mode;
    names.emplace_back(name_of(mode));
  }
  throw InputError("the theme is dark, light or projector, not " + name +
                   did_you_mean(name, names));
}

}  // namespace trainscope::ui
