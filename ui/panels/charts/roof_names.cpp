#include "ui/panels/charts/roof_names.h"

namespace trainscope::ui {

std::vector<LineLabels::Place> places_of(const Roof& roof, ImVec2 size, float scale) {
  constexpr int kSteps = 60;
  constexpr float kAway[] = {0, 8, 20, 36, 52, 70, 90, 110};
  constexpr float kFar = 20;  // from there on a line leads to the words
  const bool flat = roof.from.y == roof.to.y;
  const float gap = 4 * scale;
  std::vector<LineLabels::Place> places;
  for (const float away : kAway)
    for (int step = flat ? 0 : 1; step <= kSteps; ++step) {  // where a slope ends a flat roof is
      // At its left end a flat roof's name stands before it.
      const float aside = !flat ? 7 * scale : step == kSteps ? 14 * scale : 0;
      const float share = 1 - static_cast<float>(step) / kSteps;
      const ImVec2 foot{roof.from.x + (roof.to.x - roof.from.x) * share,
                        roof.from.y + (roof.to.y - roof.from.y) * share};
      const float left = foot.x - aside - size.x, right = flat ? left : foot.x + aside;
      const float high = foot.y - gap - away * scale, low = foot.y + gap + away * scale;
      const Box above{{left, high - size.y}, {left + size.x, high}};
      const Box below{{right, low}, {right + size.x, low + size.y}};
      places.push_back({roof.above ? above : below, foot, away >= kFar});
      places.push_back({roof.above ? below : above, foot, away >= kFar});
    }
  return places;
}

}  // namespace trainscope::ui
