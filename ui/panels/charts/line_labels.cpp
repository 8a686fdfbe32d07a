#include "ui/panels/charts/line_labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/panels/charts/free_place.h"

namespace trainscope::ui {
namespace {

// Which side of the line from a to b a point is on: its sign; 0: on it.
float side_of(ImVec2 a, ImVec2 b, ImVec2 point) {
  return (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
}

float length_of_lead(const LineLabels::Place& place) {
  const ImVec2 end = end_of_lead(place);
  return std::hypot(end.x - place.foot.x, end.y - place.foot.y);
}

bool meet(ImVec2 a, ImVec2 b, ImVec2 c, ImVec2 d) {
  return side_of(a, b, c) * side_of(a, b, d) <= 0 && side_of(c, d, a) * side_of(c, d, b) <= 0;
}

// Words that have their place, and the lines that lead to them: neither strikes the other.
class Written {
 public:
  explicit Written(float apart) : apart_(apart) {}

  bool has_room(const LineLabels::Place& place, bool led) const {
    const ImVec2 end = end_of_lead(place);
    const Box room = widened(place.box);
    return std::ranges::none_of(all_, [&](const One& one) {
      return overlaps(place.box, one.box) || (led && crosses(one.box, place.foot, end)) ||
             (one.led && crosses(room, one.foot, one.end));
    });
  }

  void add(const LineLabels::Place& place, bool led) {
    all_.push_back({widened(place.box), place.foot, end_of_lead(place), led});
  }

 private:
  Box widened(const Box& box) const {
    return {{box.min.x - apart_, box.min.y}, {box.max.x + apart_, box.max.y}};
  }

  struct One {
    Box box;
    ImVec2 foot, end;
    bool led;
  };
  float apart_;
  std::vector<One> all_;
};

}  // namespace

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
  Rates rates;
  for (const Words& words : all) {
    rates.emplace_back();
    for (const Place& place : words.places) rates.back().push_back(rated(words.line, place));
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Choice choice = choose(all, rates, order), best = choice;
  for (std::size_t round = 0; round < all.size() && choice.worst; ++round) {
    const auto worst = std::find(order.begin(), order.end(), *choice.worst);
    std::rotate(order.begin(), worst, worst + 1);
    choice = choose(all, rates, order);
    if (choice.faults < best.faults) best = choice;
  }
  std::vector<std::optional<Place>> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!best.places[i]) continue;
    places[i] = all[i].places[*best.places[i]];
    places[i]->led = rates[i][*best.places[i]].led;
    places[i]->struck = rates[i][*best.places[i]].struck;
  }
  return places;
}

LineLabels::Choice LineLabels::choose(const std::vector<Words>& all, const Rates& rates,
                                      const std::vector<std::size_t>& order) const {
  constexpr int kNoPlace = 1000;
  Choice choice;
  choice.places.resize(all.size());
  Written written(apart_);
  int most = 0;
  for (const std::size_t words : order) {
    int least = kNoPlace;
    for (std::size_t i = 0; i < all[words].places.size(); ++i) {
      const Place& place = all[words].places[i];
      const Rated& rate = rates[words][i];
      if (rate.faults >= least || !is_inside(place.box) || !written.has_room(place, rate.led))
        continue;
      least = rate.faults;
      choice.places[words] = i;
    }
    if (const auto& taken = choice.places[words])
      written.add(all[words].places[*taken], rates[words][*taken].led);
    choice.faults += least;
    if (least > most) most = least, choice.worst = words;
  }
  return choice;
}

bool LineLabels::is_inside(const Box& box) const {
  return box.min.x >= area_.min.x && box.max.x <= area_.max.x && box.min.y >= area_.min.y &&
         box.max.y <= area_.max.y;
}

bool LineLabels::is_beyond(std::size_t line, const Place& place) const {
  const ImVec2 end = end_of_lead(place);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (i != line && meet(lines_[i].from, lines_[i].to, place.foot, end)) return true;
  return false;
}

// Words that a line strikes through are the worst; those at another line, or beyond it, are taken
// for that one's.
LineLabels::Rated LineLabels::rated(std::size_t line, const Place& place) const {
  constexpr int kStruck = 100, kBeyond = 30, kNear = 10;
  constexpr float kFar = 5;  // pixels
  const Box around{{place.box.min.x, place.box.min.y - near_},
                   {place.box.max.x, place.box.max.y + near_}};
  const bool beyond = is_beyond(line, place);
  int found = beyond ? kBeyond : 0;
  if (beyond || place.led) found += static_cast<int>(length_of_lead(place) / kFar);
  bool struck = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (crosses(place.box, lines_[i].from, lines_[i].to))
      found += kStruck, struck = true;
    else if (i != line && crosses(around, lines_[i].from, lines_[i].to))
      found += kNear;
  }
  for (const Box& point : points_)
    if (overlaps(point, place.box)) ++found;
  return {found, beyond || place.led, struck};
}

ImVec2 end_of_lead(const LineLabels::Place& place) {
  return {std::clamp(place.foot.x, place.box.min.x, place.box.max.x),
          place.foot.y > place.box.max.y ? place.box.max.y : place.box.min.y};
}

}  // namespace trainscope::ui
