// Of the listing, what stands between the model and the loop: the lists that keep something, and
// the function that validates.
#pragma once

#include "train/listing/listing_part.h"

namespace trainscope::train {

void write_validation(ListingText& text, TrainLines& lines, const ListedRun& run);

}  // namespace trainscope::train
