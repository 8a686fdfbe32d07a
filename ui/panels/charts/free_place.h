// A place for words beside a point of a chart, on no line and on no other words. Pure.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// What a chart has drawn, and where words may stand.
struct ChartGround {
  Box room;
  std::vector<std::pair<ImVec2, ImVec2>> lines;
  std::vector<Box> taken;  // points, other words
};

bool overlaps(const Box& a, const Box& b);
// Whether a part of the line from one to the other is in the box.
bool crosses(const Box& box, ImVec2 from, ImVec2 to);

// The nearest free place for words of that size; nothing where none is free.
std::optional<Box> free_place(const ChartGround& ground, ImVec2 point, ImVec2 size, float gap);

}  // namespace trainscope::ui
