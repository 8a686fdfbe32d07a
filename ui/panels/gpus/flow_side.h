// One side of the gradient flow: its GPUs with what travels between them, the table of what is
// sent, and the curve over numbers of GPUs.
#pragma once

#include <string>
#include <vector>

#include "ui/panels/gpus/gradient_flow.h"

namespace trainscope::ui {

// One side, in this frame.
struct FlowSide {
  const PanelContext& context;
  GradientFlowPanel::Side& own;
  const FlowFacts& facts;
  std::size_t side;
  Nanos time;
  Nanos axis = 0;             // of its strip: the longest step of those beside it
  bool legend_above = false;  // of the cells, once for both sides
};

// The longest of these that fits, in a row around `y`.
void words_at(const Theme& theme, const Box& box, float y, const std::vector<std::string>& ways,
              Color color, ImFont* font, float size);

void draw_gpus(const FlowSide& view, const Box& box);
// With the exposed communication below it. A row that is clicked is shown on the timeline.
void draw_buckets(const FlowSide& view, const Box& box);
// Tried once someone looks at it: each number of GPUs is a run of its own.
void draw_scaling(const FlowSide& view, const ScalingRange& range, const Box& box);

}  // namespace trainscope::ui
