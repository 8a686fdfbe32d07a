// One run alone: where it comes from, what takes its time, what a change would bring, its metrics,
// what was left out of it.
#pragma once

#include <vector>

#include "analysis/diagnosis.h"
#include "ui/app/comparison.h"
#include "ui/panels/context.h"
#include "ui/panels/what_if.h"

namespace trainscope::ui {

struct SummaryPanel {
  RunPointer run;
  std::vector<SummaryRow> rows;
  std::vector<analysis::Finding> findings;
  WhatIfPart what_if;
};

void draw_summary(const PanelContext& context, SummaryPanel& panel, const char* name, bool* open);
void draw_details_panel(const PanelContext& context, const char* name, bool* open);

}  // namespace trainscope::ui
