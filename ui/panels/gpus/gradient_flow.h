// Gradient flow: the GPUs on their links, their gradients as cells that fill in backward, the
// buckets that close and the all-reduces that sum them, at the playhead; the table of the buckets,
// and what of it nothing else hides. Of a pipeline: its micro-batches on their way through the
// stages. Of FSDP: which units' parameters are whole, and when.
#pragma once

#include <string>

#include "analysis/advice/scaling.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/charts/scaling_plot.h"
#include "ui/panels/gpus/bucket_table.h"
#include "ui/panels/gpus/flow_facts.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct GradientFlowPanel {
  struct Side {
    RunPointer read;  // that is read, or was
    Background<FlowFacts> reading;
    BucketTable table;
    RunPointer scaled;  // whose other numbers of GPUs are tried
    Background<analysis::ScalingCurve> scaling;
  };
  Side sides[2];
  ScalingRange range;  // of both scaling curves, of this frame
  // Of those that share a place, the chosen one: "GPUs", "buckets", "scaling"; of a walk "numbers".
  std::string part;
};

// Whether a side's run sums gradients over ranks, or sends them through stages.
bool has_gradient_flow(const Workspace& workspace);

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_gradient_flow(const PanelContext& context, GradientFlowPanel& panel, const char* name,
                        const char* beside, bool* open);

}  // namespace trainscope::ui
