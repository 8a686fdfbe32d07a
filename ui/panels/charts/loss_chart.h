// The chart of the loss panel: the losses of A and B over steps or over time, the loss that they
// are to reach and where they do, what was skipped, where the loss was no number, the playheads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/metrics/loss_curve.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// A side that has something to draw.
struct ShownLoss {
  std::size_t side;
  const analysis::LossCurve* curve;
  Nanos playhead;                   // in the side's own time
  std::optional<std::size_t> step;  // there
};

// What a person chose of it.
struct LossChart {
  Stretch steps, times;
  bool logarithmic = false;
  std::optional<bool> over_time;  // else where a side has a target: that asks when

  bool is_over_time(const std::vector<ShownLoss>& shown) const;
};

// "0.693".
std::string loss_words(double loss);
// The same of a step, or why it has none.
std::string loss_at(const analysis::LossCurve& curve, std::size_t step);

// A drag on it moves the playhead.
void draw_loss_chart(const PanelContext& context, LossChart& chart,
                     const std::vector<ShownLoss>& shown, const Box& box);

}  // namespace trainscope::ui
