// The lines before a training loop: ranks, data, the model and what is wrapped around it, the
// optimizer.
#pragma once

#include "train/listing/listing_part.h"

namespace trainscope::train {

// Up to the loop, which stands a line below.
void write_setup(ListingText& text, TrainLines& lines, const ListedRun& run);

}  // namespace trainscope::train
