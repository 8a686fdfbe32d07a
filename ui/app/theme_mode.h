// Dark or light; apart from theme.h, so that one can say so without knowing how a window draws.
#pragma once

#include <cstdint>

namespace trainscope::ui {

enum class ThemeMode : std::uint8_t { kDark, kLight };

}  // namespace trainscope::ui
