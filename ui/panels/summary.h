// One run alone: where it comes from, its metrics, what was left out of it.
#pragma once

#include "ui/app/comparison.h"
#include "ui/panels/context.h"

namespace trainscope::ui {

struct SummaryPanel {
  RunPointer run;
  std::vector<SummaryRow> rows;
};

void draw_summary(const PanelContext& context, SummaryPanel& panel, const char* name, bool* open);
void draw_details_panel(const PanelContext& context, const char* name, bool* open);

}  // namespace trainscope::ui
