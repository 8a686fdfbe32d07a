// How digits are written by hand: the pen's path, in several ways for each.
#pragma once

#include <vector>

namespace trainscope::data {

// x to the right, y downward; a glyph is 1 high and about 0.6 wide, around (0, 0).
struct Point {
  float x = 0;
  float y = 0;
};

struct Stroke {
  bool curved = false;  // a smooth curve through the points; else straight from one to the next
  std::vector<Point> points;
};

using Glyph = std::vector<Stroke>;

// The ways to write a digit, 0 to 9.
const std::vector<Glyph>& glyphs_of(int digit);

}  // namespace trainscope::data
