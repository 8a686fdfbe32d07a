// The SM array: the blocks of the kernel at the playhead on the GPU's SMs, wave by wave, with the
// tail; beside it what its occupancy is limited by, and the occupancy of every other shape.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/placed_kernels.h"
#include "sim/sm_run.h"
#include "ui/app/views/wave_rows.h"
#include "ui/panels/gpus/occupancy_map.h"
#include "ui/panels/gpus/sm_raster.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct SmArrayPanel {
  struct SideFacts {
    RunPointer run;                                // that the kernels are of
    std::vector<analysis::PlacedKernel> kernels;   // by start
    program::Index operation = program::kNoIndex;  // the one that is shown
    sim::SmRun sms;
    std::vector<WaveRows> last;
    RasterPlace place;  // of the raster that is shown block by block
  };
  SideFacts sides[2];
  std::string map_shown;  // "tiles", "registers", "shared memory"; empty: not chosen yet
  OccupancyMap map;
};

// Whether a side's run has kernels that are placed block by block.
bool has_sm_array(const Workspace& workspace);

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_sm_array(const PanelContext& context, SmArrayPanel& panel, const char* name,
                   const char* beside, bool* open);

}  // namespace trainscope::ui
