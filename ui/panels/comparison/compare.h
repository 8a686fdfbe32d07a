// A and B, metric by metric, and the waterfall of where the difference went.
#pragma once

#include "ui/app/views/comparison.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct ComparePanel {
  // What was compared last, so that it is done once a run.
  RunPointer a, b;
  Comparison comparison;
};

// The table with the waterfall beside it, or one of them where there is room for one.
enum class ComparePart : std::uint8_t { kBoth, kTable, kWaterfall };

void draw_compare(const PanelContext& context, ComparePanel& panel, const char* name, bool* open,
                  ComparePart part = ComparePart::kBoth);

}  // namespace trainscope::ui
