// The body of a training loop: forward, backward, the update; and the evaluation behind the loop.
#pragma once

#include "train/listing/listing_part.h"

namespace trainscope::train {

// From zeroing gradients to what is printed of the step.
void write_step(ListingText& text, TrainLines& lines, const ListedRun& run);
// Of the test set, where the run evaluates.
void write_evaluation(ListingText& text, TrainLines& lines, const ListedRun& run);

}  // namespace trainscope::train
