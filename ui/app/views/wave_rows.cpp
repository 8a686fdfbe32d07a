#include "ui/app/views/wave_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/app/views/exact_count.h"

namespace trainscope::ui {

std::string last_wave_words(const sim::SmRun& run) {
  if (run.waves == 0) return "0";
  const auto blocks = [](std::int64_t count) { return exact_count(static_cast<double>(count)); };
  return blocks(run.wave(run.waves - 1).blocks) + " of " + blocks(run.blocks_a_wave);
}

std::vector<double> raster_times(Nanos end, double most) {
  const double last = static_cast<double>(std::max<Nanos>(end, 1));
  double step = std::pow(10.0, std::floor(std::log10(last)));
  for (const double factor : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0})
    if (last / (step * factor) <= most) {
      step *= factor;
      break;
    }
  step = std::max(step, 1.0);
  std::vector<double> times;
  const double room = 0.9 * last / most;  // before the end, for its own words
  for (double at = 0; at == 0 || at <= last - room; at += step) times.push_back(at);
  times.push_back(last);
  return times;
}

std::string wave_words(const sim::SmRun& run) {
  std::string words =
      fmt::format("{} block{}, {} wave{}", exact_count(static_cast<double>(run.blocks)),
                  run.blocks == 1 ? "" : "s", exact_count(static_cast<double>(run.waves)),
                  run.waves == 1 ? "" : "s");
  if (const int idle = idle_sms(last_wave_rows(run)); idle > 0)
    words +=
        fmt::format("; {}{} of {} SMs idle", run.waves > 1 ? "in the last, " : "", idle, run.sms);
  if (const sim::Fullest fullest = sim::fullest_sms(run); fullest.sms > 0)
    words += fmt::format("; {}{} of {} SMs {} {} blocks{}", run.waves > 1 ? "in the last, " : "",
                         fullest.sms, run.sms, fullest.sms == 1 ? "has" : "have", fullest.blocks,
                         fullest.blocks == 2 ? ", the others 1" : "");
  return words;
}

}  // namespace trainscope::ui
