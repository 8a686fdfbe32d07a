#include "ui/app/window/color.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainscope::ui {
namespace {

using Triple = std::array<double, 3>;

double to_linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Triple linear(Color color) {
  return {to_linear(color.r), to_linear(color.g), to_linear(color.b)};
}

double luminance(Color color) {
  const Triple c = linear(color);
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

Triple times(const std::array<Triple, 3>& matrix, const Triple& v) {
  Triple out{};
  for (std::size_t row = 0; row < 3; ++row)
    out[row] = matrix[row][0] * v[0] + matrix[row][1] * v[1] + matrix[row][2] * v[2];
  return out;
}

Triple oklab(Color color) {
  static constexpr std::array<Triple, 3> kCones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                                                    {0.2119034982, 0.6806995451, 0.1073969566},
                                                    {0.0883024619, 0.2817188376, 0.6299787005}}};
  static constexpr std::array<Triple, 3> kLab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                                                  {1.9779984951, -2.4285922050, 0.4505937099},
                                                  {0.0259040371, 0.7827717662, -0.8086757660}}};
  Triple cones = times(kCones, linear(color));
  for (double& cone : cones) cone = std::cbrt(cone);
  return times(kLab, cones);
}

std::uint8_t blend(std::uint8_t a, std::uint8_t b, float share) {
  return static_cast<std::uint8_t>(
      std::lround(static_cast<float>(a) + (static_cast<float>(b) - static_cast<float>(a)) * share));
}

}  // namespace

Color faded(Color color, float opacity) {
  const float alpha = static_cast<float>(color.a) * std::clamp(opacity, 0.0F, 1.0F);
  color.a = static_cast<std::uint8_t>(std::lround(alpha));
  return color;
}

Color mixed(Color ground, Color top, float share) {
  return {blend(ground.r, top.r, share), blend(ground.g, top.g, share),
          blend(ground.b, top.b, share), 255};
}

double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

double distance(Color a, Color b) {
  const Triple x = oklab(a), y = oklab(b);
  return 100 * std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

}  // namespace trainscope::ui
