// A kernel's last wave as a raster of its blocks shows it: which SMs have blocks of it, and until
// when. Pure.
#pragma once

#include <vector>

#include "sim/sm_run.h"

namespace trainscope::sim {

// SMs side by side that have as many blocks of the last wave.
struct WaveRows {
  int first_sm = 0;
  int sms = 0;
  int blocks = 0;  // on each; 0: idle
  Nanos end = 0;   // of the blocks; of an idle SM, when the wave before was done
  friend bool operator==(const WaveRows&, const WaveRows&) = default;
};

// All SMs of the GPU, in order.
std::vector<WaveRows> last_wave_rows(const SmRun& run);

// SMs without a block in the last wave.
int idle_sms(const std::vector<WaveRows>& rows);

// Where the last wave's blocks do not come out even: the SMs that get one more than the others, and
// how many blocks those have. 0 SMs: all have as many, or some have none.
struct Fullest {
  int sms = 0;
  std::int64_t blocks = 0;
};
Fullest fullest_sms(const SmRun& run);

}  // namespace trainscope::sim
