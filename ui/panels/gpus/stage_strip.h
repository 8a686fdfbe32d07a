// A pipeline as its inventors draw it: a row a GPU, the forward and the backward of each
// micro-batch with its number, and between them the time in which the GPU stands still. Where a GPU
// has several stages, each is named, and paler than the one before it. Of several pipelines the
// sums of gradients between them are there, too.
#pragma once

#include "analysis/causes/stage_times.h"
#include "ui/panels/gpus/step_strip.h"

namespace trainscope::ui {

// Of the step at a time.
StepStrip strip_of(const analysis::StageTimes& times, Nanos time);

// The colours and what they mean, and how large the bubble is; as much of it as fits.
void draw_stage_legend(const Theme& theme, const Box& box, const analysis::StageTimes& times,
                       std::optional<double> bubble);

}  // namespace trainscope::ui
