#include "ui/panels/charts/line_flags.h"

#include <algorithm>
#include <optional>

#include "ui/panels/charts/free_place.h"

namespace trainscope::ui {
namespace {

class FlagPlaces {
 public:
  FlagPlaces(const Box& chart, const std::vector<float>& lines, ImVec2 size,
             const std::vector<Box>& taken)
      : chart_(chart), lines_(lines), size_(size), taken_(taken) {}

  std::vector<Box> place() {
    for (std::size_t i = 0; i < lines_.size(); ++i) flags_.push_back(flag(i));
    return flags_;
  }

 private:
  // Lines that stand close have their flags on their outer sides.
  bool is_leftmost(std::size_t line) const {
    return lines_.size() > 1 && lines_[line] <= *std::ranges::min_element(lines_) &&
           (line == 0 || lines_[line] < lines_.front());
  }

  Box box(std::size_t line, bool left, float top) const {
    const float x = lines_[line] - (left ? size_.x : 0);
    return {{x, top}, {x + size_.x, top + size_.y}};
  }

  bool is_inside(const Box& flag) const {
    return flag.min.x >= chart_.min.x && flag.max.x <= chart_.max.x && flag.max.y <= chart_.max.y;
  }

  bool is_on_line(const Box& flag, std::size_t own) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (i != own && lines_[i] > flag.min.x && lines_[i] < flag.max.x) return true;
    return false;
  }

  static bool is_on_any(const Box& flag, const std::vector<Box>& boxes) {
    return std::ranges::any_of(boxes, [&](const Box& one) { return overlaps(one, flag); });
  }

  // On a curve rather than on the other line, on that rather than outside.
  Box flag(std::size_t line) const {
    for (const bool on_line : {false, true})
      for (const bool on_taken : {false, true})
        if (const auto found = highest(line, on_line, on_taken)) return *found;
    return box(line, is_leftmost(line), chart_.min.y);
  }

  std::optional<Box> highest(std::size_t line, bool on_line, bool on_taken) const {
    const bool left = is_leftmost(line);
    for (float top = chart_.min.y; top + size_.y <= chart_.max.y; top += size_.y / 2)
      for (const bool side : {left, !left}) {
        const Box flag = box(line, side, top);
        if (is_inside(flag) && !is_on_any(flag, flags_) && (on_line || !is_on_line(flag, line)) &&
            (on_taken || !is_on_any(flag, taken_)))
          return flag;
      }
    return std::nullopt;
  }

  Box chart_;
  const std::vector<float>& lines_;
  ImVec2 size_;
  const std::vector<Box>& taken_;
  std::vector<Box> flags_;
};

}  // namespace

std::vector<Box> place_flags(const Box& chart, const std::vector<float>& lines, ImVec2 size,
                             const std::vector<Box>& taken) {
  return FlagPlaces(chart, lines, size, taken).place();
}

}  // namespace trainscope::ui
