// Which theme; apart from theme.h, so that one can say so without knowing how a window draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::ui {

// Projector: white, everything half as large again, contrast for a washed-out picture.
enum class ThemeMode : std::uint8_t { kDark, kLight, kProjector };

inline constexpr std::array kThemeModes{ThemeMode::kDark, ThemeMode::kLight, ThemeMode::kProjector};

std::string_view name_of(ThemeMode mode);  // "dark", as --theme takes it

// Throws InputError with "did you mean".
ThemeMode theme_named(const std::string& name);

}  // namespace trainscope::ui
