// How long a pass over the data set takes.
#pragma once

#include <optional>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// In ns: the mean of the whole epochs among the measured steps, or, where there is none, the mean
// step times the steps of an epoch; where a loader's workers take longer for a batch in the long
// run than these steps did, as they ran on batches loaded ahead, that time instead of the step's.
// With the validations between these steps, or so many as an epoch has, of the run's in the mean;
// of a step that is looked at alone, without either. Nothing where the program has no epochs, or no
// step is measured.
std::optional<double> epoch_time(const Measured& measured);

}  // namespace trainscope::analysis
