// Where the words of a chart's lines stand: beside their own line, clear of the other lines, of
// points and of each other's words as far as there is room. Pixels; pure.
#pragma once

#include <optional>
#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

class LineLabels {
 public:
  // `apart`: between words side by side. `near`: a line closer to words than that seems to be
  // theirs.
  explicit LineLabels(const Box& area, float apart = 0, float near = 0)
      : area_(area), apart_(apart), near_(near) {}

  // Returns the line's number.
  std::size_t add_line(ImVec2 from, ImVec2 to);
  void add_point(ImVec2 centre, float radius);

  struct Place {
    Box box;           // of the words
    ImVec2 foot;       // where on their line they belong
    bool led = false;  // one from the foot leads to the words: they are far, or beyond another line
    bool struck = false;  // a line goes through the words: there was no better place
  };
  struct Words {
    std::size_t line = 0;       // theirs
    std::vector<Place> places;  // to choose from; of equal ones the first is taken
  };
  // By words; nothing where each place is outside the area or written on. They choose in the order
  // given, but whose place is the worst chooses first, as long as that is better for all together.
  std::vector<std::optional<Place>> place(const std::vector<Words>& all) const;

 private:
  struct Rated {
    int faults = 0;
    bool led = false;
    bool struck = false;
  };
  using Rates = std::vector<std::vector<Rated>>;  // by words, then place
  struct Choice {
    std::vector<std::optional<std::size_t>> places;  // by words
    int faults = 0;
    std::optional<std::size_t> worst;  // whose place has most of them; none: no place has any
  };
  Choice choose(const std::vector<Words>& all, const Rates& rates,
                const std::vector<std::size_t>& order) const;
  bool is_inside(const Box& box) const;
  bool is_beyond(std::size_t line, const Place& place) const;
  Rated rated(std::size_t line, const Place& place) const;

  struct Line {
    ImVec2 from, to;
  };
  Box area_;
  float apart_ = 0, near_ = 0;
  std::vector<Line> lines_;
  std::vector<Box> points_;
};

// Where the line that leads from the foot meets the words.
ImVec2 end_of_lead(const LineLabels::Place& place);

}  // namespace trainscope::ui
