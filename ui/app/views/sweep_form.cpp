#include "ui/app/views/sweep_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "machine/machine.h"
#include "program/knob_number.h"

namespace trainscope::ui {
namespace {

using program::Knob;
using program::KnobType;
using program::Value;

constexpr int kEachWay = 3;

std::string spelled(const Knob& knob, double number) {
  if (knob.type == KnobType::kNumber) return program::spell(number);
  return scenario::spell_value(knob, static_cast<std::int64_t>(std::llround(number)));
}

bool takes(const Knob& knob, double number) {
  const bool whole = knob.type == KnobType::kNumber || number == std::floor(number);
  return whole && number >= knob.least && number <= knob.most;
}

// Where all values now are one of them times a power of two: a range that holds them.
std::string range_around(const Knob& knob, const std::vector<Value>& now) {
  double least = INFINITY, most = 0;
  for (const Value& value : now) {
    least = std::min(least, program::number_of(value));
    most = std::max(most, program::number_of(value));
  }
  if (least <= 0) return "";
  for (const Value& value : now)
    if (const double power = std::log2(program::number_of(value) / least);
        power != std::floor(power))
      return "";
  for (int i = 0; i < kEachWay && takes(knob, least / 2); ++i) least /= 2;
  for (int i = 0; i < kEachWay && takes(knob, most * 2); ++i) most *= 2;
  return least < most ? spelled(knob, least) + ".." + spelled(knob, most) : "";
}

// What the values now are halved and doubled to, thrice each way.
std::string around(const Knob& knob, const std::vector<Value>& now) {
  if (std::string range = range_around(knob, now); !range.empty()) return range;
  std::set<double> numbers;
  for (const Value& value : now) {
    const double middle = program::number_of(value);
    if (middle <= 0) numbers.insert(middle);
    for (int i = middle > 0 ? -kEachWay : 0; i <= kEachWay; ++i)
      if (const double number = (middle > 0 ? middle : 1) * std::exp2(i); takes(knob, number))
        numbers.insert(number);
  }
  std::vector<std::string> words;
  for (const double number : numbers) words.push_back(spelled(knob, number));
  return joined(words);
}

// "-8" of "h200-8".
std::string ending_of(const std::string& machine) {
  const std::size_t dash = machine.rfind('-');
  return dash == machine.npos ? "" : machine.substr(dash);
}

std::string machines_like(const std::vector<Value>& now) {
  std::vector<std::string> words;
  for (const std::string& id : machine::machine_ids())
    if (ending_of(id) == ending_of(std::get<std::string>(now.front()))) words.push_back(id);
  return joined(words);
}

}  // namespace

std::string suggested_values(const Knob& knob, const std::vector<Value>& now) {
  if (now.empty()) return "";
  switch (knob.type) {
    case KnobType::kBool:
      return "false, true";
    case KnobType::kChoice:
      return joined(knob.built_choices);
    case KnobType::kInteger:
    case KnobType::kBytes:
    case KnobType::kNumber:
      return around(knob, now);
    case KnobType::kText:
    case KnobType::kList:
      break;
  }
  return knob.name == "machine" ? machines_like(now) : program::spell(now.front());
}

SweepForm form_of(const scenario::LessonSweep& sweep) {
  SweepForm form;
  form.knob = sweep.axis.knob->name;
  form.values = scenario::spell_values(sweep.axis);
  form.metric = sweep.metric->name;
  return form;
}

std::vector<scenario::SweepAxis> axes_of(const SweepForm& form) {
  std::vector<scenario::SweepAxis> axes{scenario::parse_axis(form.knob + "=" + form.values)};
  if (!form.second_knob.empty())
    axes.push_back(scenario::parse_axis(form.second_knob + "=" + form.second_values));
  return axes;
}

const analysis::Metric* metric_of(const SweepForm& form, const scenario::Sweep& sweep) {
  if (!form.metric.empty()) return &analysis::find_metric(form.metric);
  const auto telling = scenario::telling_metrics(sweep, 1);
  if (!telling.empty()) return telling.front();
  const auto all = scenario::metrics_of(sweep);
  return all.empty() ? nullptr : all.front();
}

std::string sweep_title(const scenario::Sweep& sweep, const analysis::Metric* metric) {
  std::string title = metric ? metric->label + " over " : "";
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    const scenario::SweepAxis& axis = sweep.axes[i];
    if (i > 0) title += " and ";
    title += axis.knob->name;
    if (scenario::is_ordered(axis) && axis.values.size() > 1)
      title += fmt::format(", {} to {}", program::show(*axis.knob, axis.values.front()),
                           program::show(*axis.knob, axis.values.back()));
  }
  return title;
}

std::string point_title(const scenario::Sweep& sweep, std::size_t point) {
  std::string title;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    title += (i > 0 ? ", " : "") + sweep.axes[i].knob->name + " = " +
             program::show(*sweep.axes[i].knob, sweep.points[point].values[i]);
  return title;
}

std::string failure_of(const scenario::SweepPoint::Side& side) {
  return side.refused.empty() ? side.ending : side.refused;
}

std::vector<SweepFailure> failures_of(const scenario::Sweep& sweep) {
  std::vector<SweepFailure> failures;
  for (std::size_t point = 0; point < sweep.points.size(); ++point)
    for (const scenario::SweepPoint::Side& side : sweep.points[point].sides)
      if (const std::string sentence = failure_of(side); !sentence.empty())
        failures.push_back({point, sentence});
  return failures;
}

std::string words_of_failures(const scenario::Sweep& sweep) {
  const std::vector<SweepFailure> failures = failures_of(sweep);
  if (failures.empty()) return "";
  const SweepFailure& first = failures.front();
  const std::size_t runs = sweep.points.size() * sweep.points.front().sides.size();
  return fmt::format("{} of {} runs {} no value. {}: {}", failures.size(), runs,
                     failures.size() == 1 ? "has" : "have", point_title(sweep, first.point),
                     first.sentence);
}

std::string words_of_caveats(const scenario::Sweep& sweep) {
  std::size_t count = 0, first = 0;
  std::string sentence;
  for (std::size_t point = 0; point < sweep.points.size(); ++point)
    for (const scenario::SweepPoint::Side& side : sweep.points[point].sides) {
      if (side.caveat.empty()) continue;
      if (count++ == 0) first = point, sentence = side.caveat;
    }
  if (count == 0) return "";
  return fmt::format("{} of {} runs to be read with care. {}: {}", count,
                     sweep.points.size() * sweep.points.front().sides.size(),
                     point_title(sweep, first), sentence);
}

std::vector<PresentSide> present_sides(const scenario::Sweep& sweep,
                                       const std::vector<program::Config>& configs) {
  std::vector<PresentSide> present;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    PresentSide side;
    side.letter = static_cast<char>('A' + i);
    for (const scenario::SweepAxis& axis : sweep.axes)
      if (const auto place = scenario::place_on(axis, configs[i].value(axis.knob->name)))
        side.places.push_back(*place);
    if (side.places.size() == sweep.axes.size()) present.push_back(side);
  }
  return present;
}

bool is_stale(const scenario::Sweep& sweep, const std::vector<scenario::LabelledConfig>& swept,
              const std::vector<scenario::LabelledConfig>& now) {
  const auto distinct = scenario::distinct_sides(now, sweep.axes);
  if (distinct.size() != swept.size()) return true;
  for (std::size_t i = 0; i < swept.size(); ++i) {
    const auto& values = sweep.points.front().values;
    const auto differing =
        program::differing_knobs(scenario::config_at(distinct[i].second, sweep.axes, values),
                                 scenario::config_at(swept[i].second, sweep.axes, values));
    if (!differing.empty()) return true;
  }
  return false;
}

}  // namespace trainscope::ui
