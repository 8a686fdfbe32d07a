#include "ui/panels/charts/free_place.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

bool is_free(const ChartGround& ground, const Box& place) {
  const Box& room = ground.room;
  if (place.min.x < room.min.x || place.max.x > room.max.x || place.min.y < room.min.y ||
      place.max.y > room.max.y)
    return false;
  return std::ranges::none_of(ground.taken,
                              [&](const Box& other) { return overlaps(place, other); }) &&
         std::ranges::none_of(ground.lines, [&](const auto& line) {
           return crosses(place, line.first, line.second);
         });
}

}  // namespace

bool overlaps(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

bool crosses(const Box& box, ImVec2 from, ImVec2 to) {
  float first = 0, last = 1;  // the share of the line that is within the sides seen so far
  const auto within = [&](float start, float step, float least, float most) {
    if (step == 0) return start >= least && start <= most;
    const float a = (least - start) / step, b = (most - start) / step;
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
    return first <= last;
  };
  return within(from.x, to.x - from.x, box.min.x, box.max.x) &&
         within(from.y, to.y - from.y, box.min.y, box.max.y);
}

std::optional<Box> free_place(const ChartGround& ground, ImVec2 point, ImVec2 size, float gap) {
  // Where the words' middle is, in their own widths and heights beside the point.
  constexpr ImVec2 kSides[] = {{0.3F, 1}, {-0.3F, -1}, {0, 1}, {0, -1},  {0.3F, -1}, {-0.3F, 1},
                               {1, 0},    {-1, 0},     {1, 1}, {-1, -1}, {1, -1},    {-1, 1}};
  for (const float away : {1.0F, 2.0F, 3.0F})
    for (const ImVec2& side : kSides) {
      const ImVec2 middle{point.x + side.x * (size.x / 2 + away * gap),
                          point.y + side.y * (size.y / 2 + away * gap)};
      const Box place{{middle.x - size.x / 2, middle.y - size.y / 2},
                      {middle.x + size.x / 2, middle.y + size.y / 2}};
      if (is_free(ground, place)) return place;
    }
  return std::nullopt;
}

}  // namespace trainscope::ui
