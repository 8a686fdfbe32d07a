// The raster of a kernel's blocks: SMs from top to bottom, time to the right, coloured by wave.
#pragma once

#include "sim/sm_run.h"
#include "ui/app/shapes.h"
#include "ui/app/wave_rows.h"

namespace trainscope::ui {

struct SmRaster {
  const sim::SmRun& run;
  const std::vector<WaveRows>& last;  // last_wave_rows(run)
  Nanos longest = 1;                  // what the width stands for
};

// Waves too short to be told apart fold to one body. Under the mouse: the wave, its SM, its blocks.
void paint_raster(const Theme& theme, const char* id, const Box& box, const SmRaster& raster);

// Round times below the rasters, from 0 to `longest`, in the column of the rasters' bodies.
void paint_raster_axis(const Theme& theme, const Box& box, Nanos longest);

}  // namespace trainscope::ui
