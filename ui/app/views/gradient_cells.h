// The gradients of one backward as a row of cells, in the order in which they are ready: what each
// shows at a time. Pure.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/gradient_flow.h"
#include "analysis/views/star_flow.h"

namespace trainscope::ui {

struct GradientCell {
  std::size_t bucket = 0;     // of its first gradient
  std::size_t gradients = 1;  // neighbours that share the cell; 0: not known
  double ready = 0;           // of them, 0..1
  analysis::BucketState state = analysis::BucketState::kFilling;  // of the bucket
};

// At most so many cells: a cell a gradient where they fit, else an equal number of them each. Where
// the trace does not tell of gradients, a cell a bucket.
std::vector<GradientCell> gradient_cells(const analysis::BackwardFlow& backward, Nanos time,
                                         std::size_t most);

// The bucket that is spoken of at a time: the one being summed, else the first that is not done,
// else the last.
std::size_t bucket_at(const analysis::BackwardFlow& backward, Nanos time);

// What happens to that bucket: "bucket 1: ring, LL128, step 3 of 14", and beneath it what the
// picture shows of it: "each GPU holds sums of up to 4 of 8". The longest way to say it first.
struct FlowWords {
  std::vector<std::string> now;
  std::vector<std::string> beneath;
};
FlowWords flow_words(const analysis::GradientFlow& flow, Nanos time);

// Of the step at a time: "2.1 ms", "of 13.6 ms of the step", "1.9 ms of bucket 4, the last".
struct ExposureWords {
  std::string figure;
  std::string whole;
  std::string most;
  bool any = false;  // something is exposed
};
ExposureWords exposure_words(const analysis::GradientFlow& flow, Nanos time);
ExposureWords exposure_words(const analysis::StarFlow& flow, Nanos time);

// The step that a backward belongs to; null where the trace has none of that number.
const analysis::StepExposure* step_of(const analysis::GradientFlow& flow,
                                      const analysis::BackwardFlow& backward);

// "2.1" in the unit of the table: milliseconds with as many digits as a microsecond needs, for a
// step of a millisecond or more; else microseconds.
std::string table_time(Nanos time, bool milliseconds);

}  // namespace trainscope::ui
