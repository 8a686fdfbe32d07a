// The SM array: the blocks of the kernel at the playhead on the GPU's SMs, wave by wave, with the
// tail; beside it what its occupancy is limited by, and the occupancy of every other shape.
#pragma once

#include <string>
#include <vector>

#include "sim/sm_run.h"
#include "ui/app/wave_rows.h"
#include "ui/panels/context.h"
#include "ui/panels/occupancy_map.h"

namespace trainscope::ui {

struct SmArrayPanel {
  struct KernelStart {
    Nanos time = 0;
    trace::SpanId span = trace::kNone;
    program::Index operation = 0;
  };
  struct SideFacts {
    RunPointer run;                                // that the kernels are of
    std::vector<KernelStart> kernels;              // those that are placed block by block, by start
    program::Index operation = program::kNoIndex;  // the one that is shown
    sim::SmRun sms;
    std::vector<WaveRows> last;
  };
  SideFacts sides[2];
  std::string map_shown;  // "tiles", "registers", "shared memory"; empty: not chosen yet
  OccupancyMap map;
};

// The kernels of a run that are placed block by block, as its streams began them. The run has a
// program.
std::vector<SmArrayPanel::KernelStart> placed_kernels(const analysis::Run& run);

// Whether a side's run has kernels that are placed block by block.
bool has_sm_array(const Workspace& workspace);

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_sm_array(const PanelContext& context, SmArrayPanel& panel, const char* name,
                   const char* beside, bool* open);

}  // namespace trainscope::ui
