// How gradients get to the sum over all GPUs, bucket by bucket on an axis of time; of DataParallel,
// what goes from GPU 0 and to it.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with the last backward of each run that sums gradients over its ranks in buckets, or
// the last step of DataParallel: when a bucket was ready, waited, was summed, and what of that was
// exposed, with backward beside it. All runs on axes of the same length. Empty where no run does.
std::string flow_html(const std::vector<RunView>& views, const PageLimits& limits,
                      const Speech& speech = {});

}  // namespace trainscope::report
