// What kernels and copies within the device move of its memory.
#pragma once

#include <optional>

#include "analysis/steps/facts.h"

namespace trainscope::analysis {

// Bytes a second that they read from device memory and write to it, over the time in which they
// run: without what L2 serves, as far as the roofline knows of it. Nothing where no kernel's and no
// copy's bytes are known, or not all kernels'.
std::optional<double> device_bandwidth(const Facts& facts);

}  // namespace trainscope::analysis
