// What the colours of a step's strip mean, in one line under it.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct LegendItem {
  trace::Category category = trace::Category::kOther;
  std::string words;
  float busy = 1;  // as of StripShade
};

// As much of it as fits: the colours, then in the first of several ways that fits what else there
// is to be known, and a figure, which matters more than that.
void draw_strip_legend(const Theme& theme, const Box& box, const std::vector<LegendItem>& items,
                       const std::vector<std::string>& ways, const std::string& figure);

}  // namespace trainscope::ui
