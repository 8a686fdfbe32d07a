// The loss of A and B, on one pair of axes: over the steps or over time, with the loss to be
// reached, what was skipped, where it was no number, how accurate the model was, and the playhead.
// It grows while a run goes on.
#pragma once

#include <cstdint>
#include <memory>

#include "ui/panels/charts/loss_chart.h"

namespace trainscope::ui {

struct LossPanel {
  // What was read of a side's trace, as long as that was.
  struct Read {
    std::shared_ptr<const trace::Trace> trace;
    std::uint32_t steps = 0, evaluations = 0;
    program::LossTarget target;
    analysis::LossCurve curve;
  };
  Read sides[2];
  LossChart chart;
};

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_loss(const PanelContext& context, LossPanel& panel, const char* name, const char* beside,
               bool* open);

}  // namespace trainscope::ui
