#include "sim/wave_rows.h"

#include <algorithm>

namespace trainscope::sim {

std::vector<WaveRows> last_wave_rows(const SmRun& run) {
  if (run.waves == 0) return {};
  const Wave wave = run.wave(run.waves - 1);
  std::vector<WaveRows> by_sm(static_cast<std::size_t>(run.sms));
  for (std::size_t sm = 0; sm < by_sm.size(); ++sm)
    by_sm[sm] = {static_cast<int>(sm), 1, 0, wave.start};
  for (const BlockBar& bar : run.bars(wave.first_block, wave.blocks)) {
    WaveRows& row = by_sm[static_cast<std::size_t>(bar.sm)];
    ++row.blocks;
    row.end = std::max(row.end, bar.end);
  }
  std::vector<WaveRows> rows;
  for (const WaveRows& one : by_sm) {
    if (!rows.empty() && rows.back().blocks == one.blocks && rows.back().end == one.end) {
      ++rows.back().sms;
    } else {
      rows.push_back(one);
    }
  }
  return rows;
}

int idle_sms(const std::vector<WaveRows>& rows) {
  int idle = 0;
  for (const WaveRows& row : rows) idle += row.blocks == 0 ? row.sms : 0;
  return idle;
}

Fullest fullest_sms(const SmRun& run) {
  if (run.waves == 0) return {};
  const std::int64_t blocks = run.wave(run.waves - 1).blocks;
  if (blocks < run.sms || blocks % run.sms == 0) return {};
  return {static_cast<int>(blocks % run.sms), blocks / run.sms + 1};
}

}  // namespace trainscope::sim
