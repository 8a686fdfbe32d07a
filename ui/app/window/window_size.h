// How large a window opens on a screen. Pure; sizes in the units in which a window is asked for.
#pragma once

#include <algorithm>
#include <cmath>

namespace trainscope::ui {

// What windows may cover: without the bar of the desktop.
struct ScreenRoom {
  int width = 0;
  int height = 0;
  float scale = 1;  // that the platform multiplies a window's size by, where it does
};

struct WindowSize {
  int width = 0;
  int height = 0;
  bool whole = false;  // more was wanted than there is: it is to fill the screen
};

// With the frame that desktops draw around a window it is on the screen whole.
inline WindowSize size_on(const ScreenRoom& screen, int width, int height) {
  constexpr float kTitle = 40, kLeast = 320;  // of a frame, and what one can still read
  const float scale = std::max(screen.scale, 0.1F);
  const auto room = [&](int pixels, float frame) {
    const float units = static_cast<float>(pixels) / scale - frame;
    return static_cast<int>(std::floor(std::max(units, kLeast)));
  };
  const WindowSize most{room(screen.width, 0), room(screen.height, kTitle)};
  return {std::min(width, most.width), std::min(height, most.height),
          width > most.width || height > most.height};
}

}  // namespace trainscope::ui
