// How far the host runs ahead of the device.
#pragma once

#include <optional>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// Kernels and copies that were launched and had not started, on average over the measured window:
// the time from each call's end to its work's start, within the window, over the window (Little's
// law). Absent where calls and device work cannot be joined.
std::optional<double> mean_queue_depth(const Measured& measured);

}  // namespace trainscope::analysis
