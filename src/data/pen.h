// Draws strokes into a grey picture, with soft edges.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "data/glyphs.h"

namespace trainscope::data {

inline constexpr int kCanvasSide = 28;

// Ink from 0 (paper) to 1, row by row; pixel (x, y) is centred at (x, y).
using Canvas = std::array<float, std::size_t{kCanvasSide} * kCanvasSide>;

// The points of a stroke with those between them on a smooth curve (Catmull and Rom, "A Class of
// Local Interpolating Splines", 1974), `parts` steps from one to the next; of a straight one, its
// own.
std::vector<Point> flatten(const Stroke& stroke, int parts);

// Draws from point to point, in pixels, with a pen whose radius goes from `first` to `last` pixels.
void draw(Canvas& canvas, const std::vector<Point>& points, float first, float last);

}  // namespace trainscope::data
