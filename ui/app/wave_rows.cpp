#include "ui/app/wave_rows.h"

#include <fmt/format.h>

#include "ui/app/exact_count.h"

namespace trainscope::ui {

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
