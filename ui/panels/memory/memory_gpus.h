// Whose memory is shown, where there are several GPUs.
#pragma once

#include <vector>

#include "analysis/views/memory_counters.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// "GPU 3, the fullest of 8"; pressed, it opens the list of all with their peaks. True when one was
// chosen, into `now`.
bool memory_gpu_choice(const Theme& theme, const Box& box,
                       const std::vector<analysis::MemoryGpu>& gpus, analysis::MemoryGpu& now);

}  // namespace trainscope::ui
