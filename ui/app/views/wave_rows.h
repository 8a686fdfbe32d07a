// What the window says of a kernel's waves. Pure.
#pragma once

#include <string>
#include <vector>

#include "sim/wave_rows.h"

namespace trainscope::ui {

using sim::idle_sms;
using sim::last_wave_rows;
using sim::WaveRows;

// "109 blocks, 2 waves; in the last, 107 of 108 SMs idle".
std::string wave_words(const sim::SmRun& run);

// "1 of 108": blocks in the last wave, of those that are placed at once.
std::string last_wave_words(const sim::SmRun& run);

// The times below a raster: the kernel's start, round ones, its end. `most`: as many have room.
std::vector<double> raster_times(Nanos end, double most);

}  // namespace trainscope::ui
