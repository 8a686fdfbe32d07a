// Colours and what eyes make of them: contrast, distance. Pure.
#pragma once

#include <cstdint>

namespace trainscope::ui {

// sRGB, 8 bits a channel. Converts to ImGui's packed colour.
struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;

  constexpr operator std::uint32_t() const {
    return std::uint32_t{r} | std::uint32_t{g} << 8 | std::uint32_t{b} << 16 |
           std::uint32_t{a} << 24;
  }
};

// From 0xRRGGBB.
constexpr Color rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex), 255};
}

// The colour at an opacity of 0..1.
Color faded(Color color, float opacity);

// `share` of `top` (0..1) over an opaque `ground`.
Color mixed(Color ground, Color top, float share);

// The contrast ratio of WCAG 2: 1 (same) to 21 (black on white). Opaque colours.
double contrast(Color a, Color b);

// Perceived distance: Euclid in OKLab times 100. About 2 is just noticeable side by side.
double distance(Color a, Color b);

}  // namespace trainscope::ui
