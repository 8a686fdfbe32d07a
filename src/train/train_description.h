// What a program of the workload `train` says of itself: steps, samples and arithmetic of a step,
// epochs, ranks, and the buffers whose numbers are told.
#pragma once

#include "train/train_parts.h"

namespace trainscope::train {

// Fills these fields of the parts' program; the means are over all steps behind the warm-up.
void describe(TrainParts& parts);

}  // namespace trainscope::train
