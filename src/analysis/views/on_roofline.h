// Which kernels a roofline chart has to have room for.
#pragma once

#include "analysis/views/roofline.h"

namespace trainscope::analysis {

// Whether the chart is stretched for a kernel; else its point stands at the edge, as that of one
// that hardly calculates does: each decade down to them would be taken from the others. `all`: the
// time of all kernels of its run.
inline bool is_of_account(const RooflineKernel& kernel, Nanos all) {
  constexpr double kLeastIntensity = 0.01;
  constexpr Nanos kShare = 500;
  return kernel.has_point() && kernel.work.intensity() >= kLeastIntensity &&
         kShare * kernel.time >= all;
}

}  // namespace trainscope::analysis
