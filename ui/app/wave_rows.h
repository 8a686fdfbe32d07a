// What the raster of a kernel's blocks shows of its last wave: which SMs have blocks of it, and
// until when. Pure.
#pragma once

#include <string>
#include <vector>

#include "sim/sm_run.h"

namespace trainscope::ui {

// SMs side by side that have as many blocks of the last wave.
struct WaveRows {
  int first_sm = 0;
  int sms = 0;
  int blocks = 0;  // on each; 0: idle
  Nanos end = 0;   // of the blocks; of an idle SM, when the wave before was done
  friend bool operator==(const WaveRows&, const WaveRows&) = default;
};

// All SMs of the GPU, in order.
std::vector<WaveRows> last_wave_rows(const sim::SmRun& run);

// SMs without a block in the last wave.
int idle_sms(const std::vector<WaveRows>& rows);

// "109 blocks, 2 waves; in the last, 107 of 108 SMs idle".
std::string wave_words(const sim::SmRun& run);

// "1 of 108": blocks in the last wave, of those that are placed at once.
std::string last_wave_words(const sim::SmRun& run);

}  // namespace trainscope::ui
