// Colours as someone with a colour-vision deficiency sees them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ui/app/window/color.h"

namespace trainscope::test {

enum class Deficiency : std::uint8_t { kProtanopia, kDeuteranopia, kTritanopia };

// sRGB to linear light and back (IEC 61966-2-1).
inline double to_linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
inline std::uint8_t from_linear(double value) {
  const double v = std::clamp(value, 0.0, 1.0);
  const double c = v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(c * 255));
}

// Of someone with the full deficiency (Machado, Oliveira and Fernandes, 2009, severity 1.0; for
// linear RGB).
inline ui::Color seen_with(Deficiency deficiency, ui::Color color) {
  using Row = std::array<double, 3>;
  static constexpr std::array<std::array<Row, 3>, 3> kMachado = {{
      {{{0.152286, 1.052583, -0.204868},
        {0.114503, 0.786281, 0.099216},
        {-0.003882, -0.048116, 1.051998}}},
      {{{0.367322, 0.860646, -0.227968},
        {0.280085, 0.672501, 0.047413},
        {-0.011820, 0.042940, 0.968881}}},
      {{{1.255528, -0.076749, -0.178779},
        {-0.078411, 0.930809, 0.147602},
        {0.004733, 0.691367, 0.303900}}},
  }};
  const Row light{to_linear(color.r), to_linear(color.g), to_linear(color.b)};
  const auto channel = [&](std::size_t row) {
    const Row& of = kMachado[static_cast<std::size_t>(deficiency)][row];
    return from_linear(of[0] * light[0] + of[1] * light[1] + of[2] * light[2]);
  };
  return {channel(0), channel(1), channel(2), color.a};
}

}  // namespace trainscope::test
