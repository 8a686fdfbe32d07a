// The head of a training loop: epochs, the next batch, its copies to the GPU and the waits for
// them.
#pragma once

#include "train/listing/listing_part.h"

namespace trainscope::train {

// Leaves the depth at which the step goes on.
void write_loop_head(ListingText& text, TrainLines& lines, const ListedRun& run);

}  // namespace trainscope::train
