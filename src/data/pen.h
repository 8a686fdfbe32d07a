// Draws strokes into a grey picture, with soft edges.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "data/glyphs.h"

namespace trainscope::data {

inline constexpr int kCanvasSide = 28;

// Ink from 0 (paper) to 1, row by row; pixel (x, y) is centred at (x, y).
using Canvas = std::array<float, std::size_t{kCanvasSide} * kCanvasSide>;

// Points one after another, held in place: a picture is drawn without asking for memory.
class Path {
 public:
  void add(Point point) {
    assert(count_ < points_.size());
    points_[count_++] = point;
  }
  std::span<const Point> points() const { return {points_.data(), count_}; }

 private:
  std::array<Point, 128> points_;
  std::size_t count_ = 0;
};

// The points of a stroke with those between them on a smooth curve (Catmull and Rom, "A Class of
// Local Interpolating Splines", 1974), `parts` steps from one to the next.
Path smooth(std::span<const Point> points, int parts);

// Draws from point to point, in pixels, with a pen whose radius goes from `first` to `last` pixels.
void draw(Canvas& canvas, std::span<const Point> points, float first, float last);

}  // namespace trainscope::data
