// One SM of a kernel, block by block: its slots from top to bottom, time to the right. The height
// is all of the SM's warps, so that what a limit keeps blocks from is seen below the slots that
// they have. Pixels; pure. It costs as much as what is shown, however many waves there are.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sm_run.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// Waves side by side.
struct WaveRange {
  std::int64_t first = 0;  // from 0
  std::int64_t count = 0;
  friend bool operator==(const WaveRange&, const WaveRange&) = default;
};

// `most` of them, or all where there are fewer; `wave` is in the middle, as far as others allow it.
WaveRange waves_around(const sim::SmRun& run, std::int64_t wave, std::int64_t most);
// From the start of the first to the end of the last.
Nanos length_of(const sim::SmRun& run, const WaveRange& waves);

// Slots that a kernel's blocks have on an SM, and that its warps would be enough for: 2.5 is two
// blocks, and half the warps of one.
int slots_held(const sim::SmRun& run);
double slots_by_warps(const sim::SmRun& run);

enum class SlotKind : std::uint8_t {
  kBlock,
  kEmpty,  // no block is left for it, while others of the SM run
  kIdle,   // the SM has no block any more, and waits for the kernel's last
  kUnused  // never has a block: what limits the kernel keeps it free
};

struct SlotBox {
  SlotKind kind = SlotKind::kBlock;
  Box box;
  sim::BlockBar block;  // of kBlock
};

struct SmSlots {
  int sm = 0;
  WaveRange waves;
  std::vector<SlotBox> boxes;
  Box unused;  // around those that are; empty: there are none
};

// `shown` is the time that the box's width stands for.
SmSlots lay_out_slots(const sim::SmRun& run, int sm, const WaveRange& waves, Nanos shown,
                      const Box& box);

// Null where there is nothing.
const SlotBox* slot_at(const SmSlots& slots, ImVec2 point);

}  // namespace trainscope::ui
