// How far the tracer's clock is off the host's, as what must come after what shows it.
#pragma once

#include <vector>

#include "cuda/activity.h"
#include "cuda/host_log.h"

namespace trainscope::cuda {

// By how much every activity has to be set later (negative: earlier), and no more, so that none
// begins before the call that launched it and none ends after the return of a call that waited for
// it. Where no shift does both, the one that misses both by as much. 0 where nothing is amiss.
Nanos clock_shift(const std::vector<ThreadLog>& logs, const std::vector<Activity>& activities);

// The shift nearest to 0 that is at least `least` and at most `most`; in the middle between the two
// where there is none.
Nanos least_shift(Nanos least, Nanos most);

}  // namespace trainscope::cuda
