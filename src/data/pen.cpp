#include "data/pen.h"

#include <algorithm>
#include <cmath>

namespace trainscope::data {
namespace {

float between(float before, float from, float to, float after, float t) {
  const float square = t * t;
  return 0.5F * (2 * from + (to - before) * t + (2 * before - 5 * from + 4 * to - after) * square +
                 (3 * (from - to) + after - before) * square * t);
}

// How far the pixel is from the piece of a line, in pixels.
float distance(Point from, Point to, float x, float y) {
  const float along_x = to.x - from.x, along_y = to.y - from.y;
  const float length = along_x * along_x + along_y * along_y;
  const float reach = (x - from.x) * along_x + (y - from.y) * along_y;
  const float t = length > 0 ? std::clamp(reach / length, 0.0F, 1.0F) : 0.0F;
  const float dx = x - from.x - t * along_x, dy = y - from.y - t * along_y;
  return std::sqrt(dx * dx + dy * dy);
}

int pixel_at(float place) {
  return std::clamp(static_cast<int>(place), 0, kCanvasSide - 1);
}

void draw_piece(Canvas& canvas, Point from, Point to, float radius) {
  const float reach = radius + 1;
  const int left = pixel_at(std::min(from.x, to.x) - reach);
  const int right = pixel_at(std::max(from.x, to.x) + reach);
  const int bottom = pixel_at(std::max(from.y, to.y) + reach);
  for (int y = pixel_at(std::min(from.y, to.y) - reach); y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const float away = distance(from, to, static_cast<float>(x), static_cast<float>(y));
      float& ink = canvas[static_cast<std::size_t>(y * kCanvasSide + x)];
      ink = std::max(ink, std::clamp(radius + 0.5F - away, 0.0F, 1.0F));
    }
  }
}

}  // namespace

Path smooth(std::span<const Point> points, int parts) {
  Path path;
  path.add(points.front());
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point before = points[i > 0 ? i - 1 : 0], from = points[i], to = points[i + 1];
    const Point after = points[std::min(i + 2, points.size() - 1)];
    for (int part = 1; part <= parts; ++part) {
      const float t = static_cast<float>(part) / static_cast<float>(parts);
      path.add({between(before.x, from.x, to.x, after.x, t),
                between(before.y, from.y, to.y, after.y, t)});
    }
  }
  return path;
}

void draw(Canvas& canvas, std::span<const Point> points, float first, float last) {
  const auto pieces = static_cast<float>(points.size() - 1);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const float t = (static_cast<float>(i) + 0.5F) / pieces;
    draw_piece(canvas, points[i], points[i + 1], first + (last - first) * t);
  }
}

}  // namespace trainscope::data
