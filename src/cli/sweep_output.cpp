#include "cli/sweep_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analysis/runs/config_json.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/sweep_notes.h"
#include "cli/table.h"
#include "report/comparison.h"

namespace trainscope::cli {
namespace {

using analysis::Metric;
using program::Knob;
using scenario::LabelledConfig;
using scenario::Sweep;
using scenario::SweepAxis;
using scenario::SweepPoint;
using Json = nlohmann::ordered_json;

constexpr const char* kOrigin = "simulated";  // a sweep's runs are no others

std::string headed(const SweepPoint& first, const SweepPoint::Side& side, const std::string& name) {
  return first.sides.size() > 1 ? side.label + " " + name : name;
}

std::string why_not(const SweepPoint& point) {
  std::string text;
  for (const SweepPoint::Side& side : point.sides) {
    const std::string why = side.refused.empty() ? ending_in_short(side.ending) : side.refused;
    if (why.empty()) continue;
    if (!text.empty() && text != why) text += "; ";
    if (text != why) text += point.sides.size() > 1 ? side.label + ": " + why : why;
  }
  return text;
}

// Else its figures are those up to where it ended: memory is what was allocated by then.
bool is_complete(const SweepPoint::Side& side) {
  return side.ending.empty() && side.refused.empty();
}

Json json_of(const SweepPoint::Side& side) {
  Json metrics = Json::object();
  for (const analysis::MetricValue& one : side.metrics)
    if (std::isfinite(one.value))
      metrics[one.metric->name] = {{"value", one.value}, {"unit", one.metric->unit}};
  Json json{{"metrics", std::move(metrics)}, {"complete", is_complete(side)}};
  if (!side.ending.empty()) json["ended"] = side.ending;
  if (!side.refused.empty()) json["refused"] = side.refused;
  json["caveat"] = side.caveat.empty() ? Json(nullptr) : Json(side.caveat);
  return json;
}

Json json_of(const Sweep& sweep, const SweepPoint& point) {
  Json values = Json::object(), runs = Json::object();
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    values[sweep.axes[i].knob->name] = analysis::value_json<Json>(point.values[i]);
  for (const SweepPoint::Side& side : point.sides) runs[side.label] = json_of(side);
  return {{"values", std::move(values)}, {"runs", std::move(runs)}};
}

// ---- Of what it is -----------------------------------------------------------------------------

using SideOf = const SweepPoint::Side*;
std::vector<SideOf> all_that_ran(const Sweep& sweep, std::size_t side) {
  std::vector<SideOf> ran;
  for (const SweepPoint& point : sweep.points)
    if (point.sides[side].refused.empty()) ran.push_back(&point.sides[side]);
  return ran;
}

// "SIMULATED  1 x H200, PCIe 5.0 x16, pytorch-eager": what all runs of a side have alike; empty
// where none ran.
std::string origin_words(const std::vector<SideOf>& ran) {
  if (ran.empty()) return "";
  const SideOf first = ran.front();
  const auto all = [&](const auto& alike) { return std::all_of(ran.begin(), ran.end(), alike); };
  const bool one_machine = all([&](SideOf side) {
    return side->machine == first->machine && side->origin.subject == first->origin.subject;
  });
  const bool one_detail =
      all([&](SideOf side) { return side->origin.detail == first->origin.detail; });
  std::string words = std::string(trace::badge(first->origin.kind)) + "  ";
  words += one_machine ? one_line(first->origin.subject) : "machine varied";
  if (one_detail && !first->origin.detail.empty()) words += ", " + one_line(first->origin.detail);
  return words;
}

// Above the table: one line, or one a side where they are of different machines.
std::string heading_of(const Sweep& sweep) {
  const std::vector<SweepPoint::Side>& sides = sweep.points.front().sides;
  std::set<std::string> different;
  std::string each;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string words = origin_words(all_that_ran(sweep, i));
    if (words.empty()) continue;
    different.insert(words);
    each += sides[i].label + "  " + words + "\n";
  }
  return (different.size() == 1 ? *different.begin() + "\n" : each) + "\n";
}

bool is_varied(const Sweep& sweep, const Knob& knob) {
  return std::any_of(sweep.axes.begin(), sweep.axes.end(),
                     [&](const SweepAxis& axis) { return axis.knob == &knob; });
}

bool is_alike(const std::vector<LabelledConfig>& sides, const Knob& knob) {
  const program::Value& value = sides.front().second.value(knob.name);
  return std::all_of(sides.begin(), sides.end(),
                     [&](const auto& side) { return side.second.value(knob.name) == value; });
}

// As `run --json` has it: what a side sets, and what every run has.
bool is_told(const std::vector<LabelledConfig>& sides, const Knob& knob) {
  return knob.name == "machine" || knob.name == "seed" ||
         std::any_of(sides.begin(), sides.end(),
                     [&](const auto& side) { return side.second.is_set(knob.name); });
}

// Of a side: the knobs that no axis varies, and that all sides have alike, or not.
Json config_of(const program::Config& config, const Sweep& sweep,
               const std::vector<LabelledConfig>& sides, bool alike) {
  Json json = Json::object();
  for (const Knob& knob : program::knobs())
    if (is_told(sides, knob) && !is_varied(sweep, knob) && is_alike(sides, knob) == alike)
      json[knob.name] = analysis::value_json<Json>(config.value(knob.name));
  return json;
}

// The id of the machine that all runs of these sides have alike, else null.
Json machine_of(const Sweep& sweep, std::size_t first, std::size_t count) {
  std::set<std::string> ids;
  for (std::size_t i = first; i < first + count; ++i)
    for (const SideOf side : all_that_ran(sweep, i)) ids.insert(side->machine);
  const bool one = ids.size() == 1 && !is_varied(sweep, program::find_knob("machine"));
  return one ? Json(*ids.begin()) : Json(nullptr);
}

Json sides_of(const Sweep& sweep, const std::vector<LabelledConfig>& sides) {
  Json json = Json::object();
  for (std::size_t i = 0; i < sides.size(); ++i)
    json[sides[i].first] = {{"machine", machine_of(sweep, i, 1)},
                            {"config", config_of(sides[i].second, sweep, sides, false)}};
  return json;
}

// ---- How it is told ----------------------------------------------------------------------------

std::string words_of(const Sweep& sweep, const SweepPoint& point, const SweepPoint::Side& side) {
  const std::string words = values_of(sweep, point);
  return point.sides.size() > 1 ? words + " (" + side.label + ")" : words;
}

// Below the table, where a run in it ended early.
std::string note_of_brackets(const Sweep& sweep) {
  const bool any = std::ranges::any_of(sweep.points, [](const SweepPoint& point) {
    return std::ranges::any_of(point.sides,
                               [](const SweepPoint::Side& side) { return !side.ending.empty(); });
  });
  return any ? "\n" + std::string(report::kInBrackets) + "\n" : "";
}

// Below the table: each reason to read points with care, and which points.
std::string caveats_of(const Sweep& sweep) {
  std::vector<std::pair<std::string, std::string>> points_of;  // by caveat, in their order
  for (const SweepPoint& point : sweep.points)
    for (const SweepPoint::Side& side : point.sides) {
      if (side.caveat.empty()) continue;
      const std::string point_words = words_of(sweep, point, side);
      const auto same =
          std::ranges::find(points_of, side.caveat, &std::pair<std::string, std::string>::first);
      if (same == points_of.end())
        points_of.emplace_back(side.caveat, point_words);
      else
        same->second += ", " + point_words;
    }
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, points_of.size()); ++i)
    text += "\nRead with care: " + points_of[i].second + ". " + points_of[i].first + ".\n";
  if (points_of.size() > kMost)
    text += fmt::format("And {} more such reasons; --json has each.\n", points_of.size() - kMost);
  return text;
}

}  // namespace

std::string sweep_table(const Sweep& sweep, const std::vector<LabelledConfig>& sides) {
  constexpr std::size_t kMost = 5;
  const std::vector<const Metric*> metrics = scenario::telling_metrics(sweep, kMost);
  std::vector<Align> columns;
  std::vector<std::string> head;
  for (const SweepAxis& axis : sweep.axes) {
    columns.push_back(Align::kRight);
    head.push_back(axis.knob->name);
  }
  const SweepPoint& first = sweep.points.front();
  for (const Metric* metric : metrics)
    for (const SweepPoint::Side& side : first.sides) {
      columns.push_back(Align::kRight);
      head.push_back(headed(first, side, metric->name));
    }
  columns.push_back(Align::kLeft);
  head.emplace_back();
  TextTable table(columns);
  table.add(head);
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
      row.push_back(program::show(*sweep.axes[i].knob, point.values[i]));
    for (const Metric* metric : metrics)
      for (const SweepPoint::Side& side : point.sides) {
        const auto value = analysis::value_of(side.metrics, metric->name);
        const std::string shown = value ? analysis::show(*metric, *value) : "-";
        row.push_back(value && !is_complete(side) ? "(" + shown + ")" : shown);
      }
    const bool careful = std::ranges::any_of(
        point.sides, [](const SweepPoint::Side& side) { return !side.caveat.empty(); });
    const std::string why = why_not(point);
    row.push_back(why.empty() && careful ? "read with care" : why);
    table.add(row);
  }
  return heading_of(sweep) + table.text() + sweep_notes(sweep, sides) + note_of_brackets(sweep) +
         caveats_of(sweep);
}

std::string sweep_csv(const Sweep& sweep) {
  const std::vector<const Metric*> metrics = scenario::metrics_of(sweep);
  std::vector<std::string> head;
  for (const SweepAxis& axis : sweep.axes) head.push_back(axis.knob->name);
  head.emplace_back("side");
  for (const Metric* metric : metrics)
    head.push_back(metric->name + (metric->unit == "1" ? "" : " [" + metric->unit + "]"));
  head.emplace_back("ended");
  for (const char* last : {"refused", "origin", "machine", "complete", "caveat"})
    head.emplace_back(last);
  std::string text;
  add_csv_line(text, head);
  for (const SweepPoint& point : sweep.points)
    for (const SweepPoint::Side& side : point.sides) {
      std::vector<std::string> row;
      for (const program::Value& value : point.values) row.push_back(program::spell(value));
      row.push_back(side.label);
      for (const Metric* metric : metrics) {
        const auto value = analysis::value_of(side.metrics, metric->name);
        row.push_back(value && std::isfinite(*value) ? fmt::format("{}", *value) : "");
      }
      row.push_back(side.ending);
      row.push_back(side.refused);
      row.emplace_back(kOrigin);
      row.push_back(side.machine);
      row.emplace_back(is_complete(side) ? "true" : "false");
      row.push_back(side.caveat);
      add_csv_line(text, row);
    }
  return text;
}

std::string sweep_json(const Sweep& sweep, const std::vector<LabelledConfig>& sides) {
  Json vary = Json::array(), points = Json::array();
  for (const SweepAxis& axis : sweep.axes) {
    Json values = Json::array();
    for (const program::Value& value : axis.values)
      values.push_back(analysis::value_json<Json>(value));
    vary.push_back(
        {{"knob", axis.knob->name}, {"unit", axis.knob->unit}, {"values", std::move(values)}});
  }
  for (const SweepPoint& point : sweep.points) points.push_back(json_of(sweep, point));
  const program::Config& first = sides.front().second;
  Json json{{"origin", kOrigin},
            {"executor", "sim"},
            {"seed", first.whole("seed")},
            {"machine", machine_of(sweep, 0, sides.size())},
            {"config", config_of(first, sweep, sides, true)}};
  if (is_varied(sweep, program::find_knob("seed"))) json["seed"] = nullptr;
  if (sides.size() > 1) json["sides"] = sides_of(sweep, sides);
  json["vary"] = std::move(vary);
  json["points"] = std::move(points);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainscope::cli
