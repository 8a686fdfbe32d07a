#include "ui/panels/gpus/unit_strip.h"

#include <fmt/format.h>

#include <set>

#include "ui/panels/gpus/strip_legend.h"

namespace trainscope::ui {
namespace {

using analysis::UnitStep;
using analysis::UnitVisit;
using trace::Category;

constexpr float kPale = 0;

void add_visit(StripLane& lane, const UnitVisit& visit) {
  const Category held = visit.backward && !visit.forward ? Category::kBackward : Category::kForward;
  StripBar whole{visit.whole, held, ""};
  whole.shades = {{visit.whole, kPale}};
  lane.bars.push_back(std::move(whole));
  const auto add = [&](const std::optional<analysis::Interval>& time, Category category) {
    if (time) lane.bars.push_back({*time, category, ""});
  };
  add(visit.gather, Category::kCollective);
  add(visit.forward, Category::kForward);
  add(visit.backward, Category::kBackward);
  add(visit.scatter, Category::kCollective);
  add(visit.sum, Category::kCollective);
}

// What the collectives of units are called.
const char* collectives_of(const analysis::UnitTimes& times) {
  for (const UnitStep& step : times.steps)
    for (const UnitVisit& visit : step.visits)
      if (visit.sum) return "all-gather, reduce-scatter, all-reduce";
  return "all-gather, reduce-scatter";
}

}  // namespace

StepStrip strip_of(const analysis::UnitTimes& times, Nanos time) {
  const UnitStep& step = times.at(time);
  std::vector<StripLane> lanes(times.units.size());
  for (const UnitVisit& visit : step.visits) add_visit(lanes[visit.unit], visit);
  StepStrip strip;
  strip.shown = step.time;
  strip.has_ground = true;
  for (std::size_t unit = 0; unit < lanes.size(); ++unit) {
    if (lanes[unit].bars.empty()) continue;
    lanes[unit].name = times.units[unit];
    strip.lanes.push_back(std::move(lanes[unit]));
  }
  return strip;
}

std::string unit_words(const analysis::UnitTimes& times, Nanos time) {
  const UnitStep& step = times.at(time);
  std::set<std::size_t> whole, all;
  for (const UnitVisit& visit : step.visits) {
    all.insert(visit.unit);
    const Nanos there = visit.gather ? visit.gather->end : visit.whole.start;
    if (there <= time && time < visit.whole.end) whole.insert(visit.unit);
  }
  return fmt::format("whole: {} of {} units now", whole.size(), all.size());
}

void draw_unit_legend(const Theme& theme, const Box& box, const analysis::UnitTimes& times,
                      Nanos time) {
  draw_strip_legend(theme, box,
                    {{Category::kForward, "forward"},
                     {Category::kBackward, "backward"},
                     {Category::kCollective, collectives_of(times)},
                     {Category::kForward, unit_words(times, time), kPale}},
                    {}, "");
}

}  // namespace trainscope::ui
