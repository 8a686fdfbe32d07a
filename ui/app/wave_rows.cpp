#include "ui/app/wave_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "ui/app/exact_count.h"

namespace trainscope::ui {

std::vector<WaveRows> last_wave_rows(const sim::SmRun& run) {
  if (run.waves == 0) return {};
  const sim::Wave wave = run.wave(run.waves - 1);
  std::vector<WaveRows> by_sm(static_cast<std::size_t>(run.sms));
  for (std::size_t sm = 0; sm < by_sm.size(); ++sm)
    by_sm[sm] = {static_cast<int>(sm), 1, 0, wave.start};
  for (const sim::BlockBar& bar : run.bars(wave.first_block, wave.blocks)) {
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

std::string last_wave_words(const sim::SmRun& run) {
  if (run.waves == 0) return "0";
  const auto blocks = [](std::int64_t count) { return exact_count(static_cast<double>(count)); };
  return blocks(run.wave(run.waves - 1).blocks) + " of " + blocks(run.blocks_a_wave);
}

std::string wave_words(const sim::SmRun& run) {
  std::string words =
      fmt::format("{} block{}, {} wave{}", exact_count(static_cast<double>(run.blocks)),
                  run.blocks == 1 ? "" : "s", exact_count(static_cast<double>(run.waves)),
                  run.waves == 1 ? "" : "s");
  if (const int idle = idle_sms(last_wave_rows(run)); idle > 0)
    words +=
        fmt::format("; {}{} of {} SMs idle", run.waves > 1 ? "in the last, " : "", idle, run.sms);
  return words;
}

}  // namespace trainscope::ui
