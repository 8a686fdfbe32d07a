#include "ui/panels/line_labels.h"

#include <algorithm>
#include <numeric>

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

std::vector<std::optional<LineLabels::Place>> LineLabels::place(
    const std::vector<Words>& all) const {
  Faults faults;
  for (const Words& words : all) {
    faults.emplace_back();
    for (const Place& place : words.places) faults.back().push_back(faults_of(words.line, place));
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Choice choice = choose(all, faults, order), best = choice;
  for (std::size_t round = 0; round < all.size() && choice.worst; ++round) {
    const auto worst = std::find(order.begin(), order.end(), *choice.worst);
    std::rotate(order.begin(), worst, worst + 1);
    choice = choose(all, faults, order);
    if (choice.faults < best.faults) best = choice;
  }
  std::vector<std::optional<Place>> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!best.places[i]) continue;
    places[i] = all[i].places[*best.places[i]];
    places[i]->led = is_led(all[i].line, *places[i]);
  }
  return places;
}

LineLabels::Choice LineLabels::choose(const std::vector<Words>& all, const Faults& faults,
                                      const std::vector<std::size_t>& order) const {
  constexpr int kNoPlace = 1000;
  Choice choice;
  choice.places.resize(all.size());
  std::vector<Box> written;
  int most = 0;
  for (const std::size_t words : order) {
    int least = kNoPlace;
    for (std::size_t i = 0; i < all[words].places.size(); ++i) {
      const Box& box = all[words].places[i].box;
      if (faults[words][i] >= least || !is_inside(box) ||
          std::ranges::any_of(written, [&](const Box& other) { return overlap(box, other); }))
        continue;
      least = faults[words][i];
      choice.places[words] = i;
    }
    if (const auto& taken = choice.places[words]) {
      const Box& box = all[words].places[*taken].box;
      written.push_back({{box.min.x - apart_, box.min.y}, {box.max.x + apart_, box.max.y}});
    }
    choice.faults += least;
    if (least > most) most = least, choice.worst = words;
  }
  return choice;
}

bool LineLabels::is_inside(const Box& box) const {
  return box.min.x >= area_.min.x && box.max.x <= area_.max.x && box.min.y >= area_.min.y &&
         box.max.y <= area_.max.y;
}

bool LineLabels::is_led(std::size_t line, const Place& place) const {
  const Box reach = reaching_to(place.box, place.foot);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (i != line && crosses(lines_[i].from, lines_[i].to, reach)) return true;
  return false;
}

// Words that a line strikes through are the worst; those at another line, or beyond it, are taken
// for that one's.
int LineLabels::faults_of(std::size_t line, const Place& place) const {
  constexpr int kStruck = 100, kBeyond = 30, kNear = 10;
  const Box around{{place.box.min.x, place.box.min.y - near_},
                   {place.box.max.x, place.box.max.y + near_}};
  int found = is_led(line, place) ? kBeyond : 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (crosses(lines_[i].from, lines_[i].to, place.box))
      found += kStruck;
    else if (i != line && crosses(lines_[i].from, lines_[i].to, around))
      found += kNear;
  }
  for (const Box& point : points_)
    if (overlap(point, place.box)) ++found;
  return found;
}

}  // namespace trainscope::ui
