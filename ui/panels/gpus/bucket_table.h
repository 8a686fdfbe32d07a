// The buckets of a backward as a table: how large, when ready, launched, done, how much exposed.
// What is still to come at the playhead is faint.
#pragma once

#include <optional>

#include "analysis/views/gradient_flow.h"
#include "ui/app/views/gradient_cells.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct BucketTable {
  std::size_t followed = SIZE_MAX;  // the bucket that was last scrolled into sight
};

// The row that was clicked. `selected` is the span that is selected on the timeline.
std::optional<std::size_t> draw_bucket_table(const Theme& theme, const char* id, const Box& box,
                                             BucketTable& table, const analysis::GradientFlow& flow,
                                             Nanos time, trace::SpanId selected);

// How high it would like to be.
float bucket_table_height(const Theme& theme, const analysis::BackwardFlow& backward);

// The card below it: how much of the step's communication is exposed.
void draw_exposed(const Theme& theme, const ExposureWords& words, const Box& box);

}  // namespace trainscope::ui
