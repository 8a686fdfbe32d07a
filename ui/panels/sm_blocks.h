// One SM of a kernel's raster, block by block: each block a bar in its slot of the SM's residency,
// and the slots that a limit keeps free as outlines that say which limit that is.
#pragma once

#include "ui/app/sm_slots.h"
#include "ui/app/theme.h"

namespace trainscope::ui {

// The ways to say what is shown, the longest first: "SM 0: waves 3 to 7, 43.1 us each".
std::vector<std::string> slot_words(const sim::SmRun& run, const SmSlots& slots);

// Numbers of blocks where they fit. Under the mouse: the block, its slot, its wave, its times.
void paint_blocks(const Theme& theme, const Box& box, const sim::SmRun& run, const SmSlots& slots);

}  // namespace trainscope::ui
