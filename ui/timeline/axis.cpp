#include <fmt/format.h>

#include <algorithm>
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

// The next finer of 10, 5, 4, 2, 1; 0: there is none.
Nanos finer(Nanos step) {
  Nanos decade = 1;
  while (decade <= step / 10) decade *= 10;
  const Nanos factor = step / decade;
  if (factor == 1) return decade / 2;
  return factor == 2 ? decade : factor == 4 ? 2 * decade : 4 * decade;
}

// What is shown of the axis.
struct View {
  Nanos start, end;
  double nanos_per_pixel;
  Unit unit;

  std::string label(Nanos time, Nanos step) const {
    return fmt::format("{:.{}f} {}", static_cast<double>(time) / static_cast<double>(unit.nanos),
                       decimals_for(step, unit), unit.name);
  }
  std::size_t letters(Nanos step) const {
    return std::max(label(start, step).size(), label(end, step).size());
  }
};

// How many labels stand whole in the view, of letters so wide.
Nanos labels_of(const View& view, Nanos step, double letter) {
  const double half = 0.5 * static_cast<double>(view.letters(step)) * letter;
  const Nanos end = view.end - static_cast<Nanos>(half * view.nanos_per_pixel);
  if (end < view.start) return 0;
  const auto below = [step](Nanos time) {
    return time >= 0 ? time / step : -((step - 1 - time) / step);
  };
  return below(end) - below(view.start - 1);
}

// From one label no length can be read: where a few fit that have less room, those of a finer step.
Nanos step_of(const View& view, double label_room) {
  constexpr Nanos kWanted = 3;
  const double letter = label_room / 14;
  Nanos best = step_for(view.nanos_per_pixel * label_room);
  for (Nanos step = finer(best); step > 0 && labels_of(view, best, letter) < kWanted;
       step = finer(step)) {
    const double needed = static_cast<double>(view.letters(step) + 1) * letter;
    if (static_cast<double>(step) < needed * view.nanos_per_pixel) break;
    if (labels_of(view, step, letter) > labels_of(view, best, letter)) best = step;
  }
  return best;
}

}  // namespace

std::vector<Tick> axis_ticks(Nanos view_start, Nanos view_end, float width, float label_room) {
  std::vector<Tick> ticks;
  const Nanos range = view_end - view_start;
  if (range <= 0 || width <= 0 || label_room <= 0) return ticks;
  const View view{view_start, view_end, static_cast<double>(range) / width,
                  unit_for(std::max(std::abs(view_start), std::abs(view_end)))};
  const Nanos step = step_of(view, label_room);
  const Nanos minor = step % 2 == 0 ? step / 2 : step;
  const Nanos rest = ((view_start % minor) + minor) % minor;
  for (Nanos time = rest == 0 ? view_start : view_start - rest + minor; time <= view_end;
       time += minor) {
    Tick tick;
    tick.time = time;
    tick.x = static_cast<float>(static_cast<double>(time - view_start) / view.nanos_per_pixel);
    tick.major = time % step == 0;
    if (tick.major) tick.label = view.label(time, step);
    ticks.push_back(std::move(tick));
  }
  return ticks;
}

}  // namespace trainscope::ui
