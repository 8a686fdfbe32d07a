// Loss scaling: a step's gradients on FP16's number line, before and after they were scaled, and
// the scale over the steps. Of A and B beside each other, each at its own playhead.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "analysis/views/loss_scaling.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/charts/number_line.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct LossScalingPanel {
  // What was read of a side's trace, as long as that was.
  struct Read {
    std::shared_ptr<const trace::Trace> trace;
    std::uint32_t steps = 0;
    analysis::ScaleHistory history;
    std::vector<double> powers;  // log2 of the scale
    Nanos time = -1;             // of the state
    std::optional<analysis::ScalingState> state;
  };
  // What both sides are drawn to, so that one can be compared with the other.
  struct Axes {
    LineScale line;
    double least = 1, most = 1;  // of the loss scale
  };
  Read sides[2];
  Axes axes;        // of this frame
  Stretch stretch;  // of both scales
};

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_loss_scaling(const PanelContext& context, LossScalingPanel& panel, const char* name,
                       const char* beside, bool* open);

}  // namespace trainscope::ui
