#include "ui/panels/line_labels.h"

#include <algorithm>
#include <limits>

namespace trainscope::ui {
namespace {

bool overlap(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

Box reaching_to(const Box& box, ImVec2 point) {
  return {{std::min(box.min.x, point.x), std::min(box.min.y, point.y)},
          {std::max(box.max.x, point.x), std::max(box.max.y, point.y)}};
}

// Narrows [enter, leave] to where `from + t * by` lies between two edges; false where nothing is.
bool narrow(float from, float by, float low, float high, float& enter, float& leave) {
  if (by == 0) return from >= low && from <= high;
  const float one = (low - from) / by, other = (high - from) / by;
  enter = std::max(enter, std::min(one, other));
  leave = std::min(leave, std::max(one, other));
  return enter <= leave;
}

}  // namespace

bool crosses(ImVec2 from, ImVec2 to, const Box& box) {
  float enter = 0, leave = 1;
  return narrow(from.x, to.x - from.x, box.min.x, box.max.x, enter, leave) &&
         narrow(from.y, to.y - from.y, box.min.y, box.max.y, enter, leave);
}

std::size_t LineLabels::add_line(ImVec2 from, ImVec2 to) {
  lines_.push_back({from, to});
  return lines_.size() - 1;
}

void LineLabels::add_point(ImVec2 centre, float radius) {
  points_.push_back(
      {{centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}});
}

std::optional<Box> LineLabels::take(std::size_t line, const std::vector<Place>& places) {
  const Place* best = nullptr;
  int least = std::numeric_limits<int>::max();
  for (const Place& place : places) {
    if (!is_free(place.box)) continue;
    const int found = faults(line, place);
    if (found < least) least = found, best = &place;
  }
  if (!best) return std::nullopt;
  written_.push_back(
      {{best->box.min.x - apart_, best->box.min.y}, {best->box.max.x + apart_, best->box.max.y}});
  return best->box;
}

bool LineLabels::is_free(const Box& box) const {
  return box.min.x >= area_.min.x && box.max.x <= area_.max.x && box.min.y >= area_.min.y &&
         box.max.y <= area_.max.y &&
         std::ranges::none_of(written_, [&](const Box& other) { return overlap(box, other); });
}

// A line between the words and theirs says that they are its own, which is worst.
int LineLabels::faults(std::size_t line, const Place& place) const {
  int found = 0;
  const Box reach = reaching_to(place.box, place.foot);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (crosses(lines_[i].from, lines_[i].to, i == line ? place.box : reach)) found += 100;
  for (const Box& point : points_)
    if (overlap(point, place.box)) ++found;
  return found;
}

}  // namespace trainscope::ui
