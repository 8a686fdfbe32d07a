// What the colours of a step's strip mean, in one line under it.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"
#include "ui/app/shapes.h"

namespace trainscope::ui {

struct LegendItem {
  trace::Category category = trace::Category::kOther;
  std::string words;
  float busy = 1;  // as of StripShade
};

// As much of it as fits: the colours, then more words, of which the last is not muted.
void draw_strip_legend(const Theme& theme, const Box& box, const std::vector<LegendItem>& items,
                       const std::vector<std::string>& more);

}  // namespace trainscope::ui
