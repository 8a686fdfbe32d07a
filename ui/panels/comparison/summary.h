// One run alone: where it comes from, what takes its time, what a change would bring, its metrics,
// what was left out of it.
#pragma once

#include <memory>
#include <vector>

#include "analysis/causes/diagnosis.h"
#include "ui/app/views/comparison.h"
#include "ui/panels/comparison/what_if.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct SummaryPanel {
  RunPointer run;
  std::vector<SummaryRow> rows;
  WhatIfPart what_if;
  // What takes the time: first as it is seen, and anew once it is known what a change would bring.
  Background<std::vector<analysis::Finding>> diagnosis;
  std::shared_ptr<std::vector<analysis::Finding>> findings;  // null: not yet known
  std::shared_ptr<analysis::WhatIf> diagnosed_by;            // that the newest are asked for with
};

void draw_summary(const PanelContext& context, SummaryPanel& panel, const char* name, bool* open);
void draw_details_panel(const PanelContext& context, const char* name, bool* open);

}  // namespace trainscope::ui
