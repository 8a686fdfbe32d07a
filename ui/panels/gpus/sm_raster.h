// The raster of a kernel's blocks: SMs from top to bottom, time to the right, coloured by wave.
#pragma once

#include <optional>

#include "sim/sm_run.h"
#include "ui/app/views/wave_rows.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct SmRaster {
  const sim::SmRun& run;
  const std::vector<WaveRows>& last;  // last_wave_rows(run)
  Nanos longest = 1;                  // what the width stands for: the longest kernel's time
};

struct RasterPlace {
  int sm = 0;
  std::int64_t wave = 0;  // from 0
};
struct RasterUse {
  std::optional<RasterPlace> under_mouse;
  bool pressed = false;  // there; by keys where there is none
};
// The item. Under the mouse: the wave, its SM, its blocks.
RasterUse use_raster(const Theme& theme, const char* id, const Box& box, const SmRaster& raster);

// The part of an SM's row that is shown elsewhere.
struct RasterMark {
  int sm = 0;
  Nanos start = 0, end = 0;
};
// Waves too short to be told apart fold to one body.
void paint_raster(const Theme& theme, const Box& box, const SmRaster& raster,
                  const std::optional<RasterMark>& mark);

// Times below the rasters, from a kernel's start to the end of the longest, in the column of the
// rasters' bodies.
void paint_raster_axis(const Theme& theme, const Box& box, Nanos longest);

// Waves alternate, so that they are told apart where no line has room.
Color wave_color(const Theme& theme, std::int64_t index);
// Of words on it: the one of the theme's that is read best there.
Color wave_text(const Theme& theme, std::int64_t index);
// Where an SM has no block: it never had one, or it waits for the last ones of others.
void draw_no_block(const Theme& theme, const Box& box);
void draw_tail(const Theme& theme, const Box& box);

}  // namespace trainscope::ui
