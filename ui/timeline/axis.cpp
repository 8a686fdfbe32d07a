#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/timeline/layout.h"

namespace trainscope::ui {
namespace {

// The least of 1, 2, 4, 10, 20, 40, ... nanoseconds that leaves room for its labels.
Nanos step_for(double least) {
  for (Nanos decade = 1; decade < INT64_MAX / 100; decade *= 10)
    for (const Nanos factor : {1, 2, 4})
      if (static_cast<double>(decade * factor) >= least) return decade * factor;
  return INT64_MAX / 100;
}

struct Unit {
  const char* name;
  Nanos nanos;
};

// By the size of the times, not of the step, so that labels stay short when one zooms in.
Unit unit_for(Nanos longest) {
  for (const Unit unit : {Unit{"s", kSecond}, Unit{"ms", kMillisecond}, Unit{"us", kMicrosecond}})
    if (longest >= unit.nanos) return unit;
  return {"ns", 1};
}

int decimals_for(Nanos step, Unit unit) {
  int decimals = 0;
  for (Nanos whole = unit.nanos; whole > 1 && step % whole != 0; whole /= 10) ++decimals;
  return decimals;
}

}  // namespace

std::vector<Tick> axis_ticks(Nanos view_start, Nanos view_end, float width, float label_room) {
  std::vector<Tick> ticks;
  const Nanos range = view_end - view_start;
  if (range <= 0 || width <= 0 || label_room <= 0) return ticks;
  const double nanos_per_pixel = static_cast<double>(range) / width;
  const Nanos step = step_for(nanos_per_pixel * label_room);
  const Nanos minor = step % 2 == 0 ? step / 2 : step;
  const Unit unit = unit_for(std::max(std::abs(view_start), std::abs(view_end)));
  const int decimals = decimals_for(step, unit);
  const Nanos rest = ((view_start % minor) + minor) % minor;
  for (Nanos time = rest == 0 ? view_start : view_start - rest + minor; time <= view_end;
       time += minor) {
    Tick tick;
    tick.time = time;
    tick.x = static_cast<float>(static_cast<double>(time - view_start) / nanos_per_pixel);
    tick.major = time % step == 0;
    if (tick.major)
      tick.label =
          fmt::format("{:.{}f} {}", static_cast<double>(time) / static_cast<double>(unit.nanos),
                      decimals, unit.name);
    ticks.push_back(std::move(tick));
  }
  return ticks;
}

}  // namespace trainscope::ui
