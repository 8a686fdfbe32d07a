// One SM of a kernel's raster, block by block: each block a bar in its slot of the SM's residency,
// and the slots that a limit keeps free hatched, with the limit's name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ui/app/views/sm_slots.h"
#include "ui/app/window/theme.h"

namespace trainscope::ui {

// The ways to say what is shown, the longest first: "SM 0: waves 3 to 7, 43.1 us each". Where
// hatched slots are too low to say what they are, that too.
std::vector<std::string> slot_words(const Theme& theme, const sim::SmRun& run,
                                    const SmSlots& slots);

// Why a slot has no block, as a card says it: a title, and the figures behind it.
struct FreeSlot {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};
FreeSlot free_slot(const sim::SmRun& run, SlotKind kind);

// Numbers of blocks where they fit. Under the mouse: the block, its slot, its wave, its times; of a
// free slot, why it is free.
void paint_blocks(const Theme& theme, const Box& box, const sim::SmRun& run, const SmSlots& slots);

}  // namespace trainscope::ui
