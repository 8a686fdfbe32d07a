// Where arrows of a path would lie on one another, they are set apart.
#include <algorithm>

#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

bool goes_down(const Arrow& arrow) {
  return arrow.y1 > arrow.y0;
}

// Either way.
bool is_between_same(const Arrow& a, const Arrow& b) {
  return std::minmax(a.from_lane, a.to_lane) == std::minmax(b.from_lane, b.to_lane);
}

// Of a path that goes to and fro between two lanes again and again, the first arrow and the last
// one the other way tell both ways; the others would only hide them.
void thin_out(std::vector<Arrow*>& arrows, float room) {
  for (std::size_t first = 0, end = 0; first < arrows.size(); first = end) {
    for (end = first + 1; end < arrows.size(); ++end)
      if (!is_between_same(*arrows[first], *arrows[end]) ||
          arrows[end]->x1 - arrows[end - 1]->x1 >= room)
        break;
    if (end - first < 3) continue;
    std::size_t last = end - 1;
    while (last > first && goes_down(*arrows[last]) == goes_down(*arrows[first])) --last;
    if (last == first) continue;
    for (std::size_t i = first + 1; i < end; ++i) arrows[i]->passing = i != last;
  }
  std::erase_if(arrows, [](const Arrow* arrow) { return arrow->passing; });
}

bool meet(const Arrow& a, const Arrow& b, float margin) {
  return std::min(a.y0, a.y1) < std::max(b.y0, b.y1) + margin &&
         std::max(a.y0, a.y1) > std::min(b.y0, b.y1) - margin;
}

// Arrows side by side about the middle of where they belong.
class Row {
 public:
  Row(Arrow* arrow, float room) : arrows_{arrow}, room_(room) {}

  float x(std::size_t i) const {
    float sum = 0;
    for (const Arrow* arrow : arrows_) sum += arrow->x1;
    const auto count = static_cast<float>(arrows_.size());
    return sum / count + (static_cast<float>(i) - (count - 1) / 2) * apart();
  }
  bool touches(const Row& later) const {
    if (later.x(0) - x(arrows_.size() - 1) >= room_) return false;
    return std::ranges::any_of(arrows_, [&](const Arrow* a) {
      return std::ranges::any_of(later.arrows_,
                                 [&](const Arrow* b) { return meet(*a, *b, room_); });
    });
  }
  void add(const Row& later) {
    arrows_.insert(arrows_.end(), later.arrows_.begin(), later.arrows_.end());
  }
  void set() const {
    for (std::size_t i = 0; i < arrows_.size(); ++i) arrows_[i]->aside = x(i) - arrows_[i]->x1;
  }

 private:
  // Of many none goes far from its time.
  float apart() const {
    constexpr float kMost = 4;
    return room_ * std::min(1.0F, kMost / static_cast<float>(arrows_.size()));
  }

  std::vector<Arrow*> arrows_;
  float room_;
};

}  // namespace

void part_arrows(std::vector<Arrow>& arrows, float room) {
  std::vector<Arrow*> upright;  // those that slant are told apart by that
  for (Arrow& arrow : arrows)
    if (arrow.of_path && arrow.y0 != arrow.y1 && arrow.x1 - arrow.x0 < room)
      upright.push_back(&arrow);
  thin_out(upright, room);
  std::vector<Row> rows;
  for (Arrow* arrow : upright) {
    rows.emplace_back(arrow, room);
    while (rows.size() > 1 && rows[rows.size() - 2].touches(rows.back())) {
      rows[rows.size() - 2].add(rows.back());
      rows.pop_back();
    }
  }
  for (const Row& row : rows) row.set();
}

}  // namespace trainscope::ui
