// Where the words of a chart's lines stand: beside their own line, clear of the other lines, of
// points and of each other's words as far as there is room. Pixels; pure.
#pragma once

#include <optional>
#include <vector>

#include "ui/app/shapes.h"

namespace trainscope::ui {

bool crosses(ImVec2 from, ImVec2 to, const Box& box);

class LineLabels {
 public:
  // `apart`: between words side by side.
  explicit LineLabels(const Box& area, float apart = 0) : area_(area), apart_(apart) {}

  // Returns the line's number.
  std::size_t add_line(ImVec2 from, ImVec2 to);
  void add_point(ImVec2 centre, float radius);

  struct Place {
    Box box;      // of the words
    ImVec2 foot;  // where on their line they belong
  };
  // Takes the best of these places, of equal ones the first; nothing where each is outside the area
  // or written on.
  std::optional<Box> take(std::size_t line, const std::vector<Place>& places);

 private:
  bool is_free(const Box& box) const;
  int faults(std::size_t line, const Place& place) const;

  struct Line {
    ImVec2 from, to;
  };
  Box area_;
  float apart_ = 0;
  std::vector<Line> lines_;
  std::vector<Box> points_, written_;
};

}  // namespace trainscope::ui
