#include "cli/sweep_output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "cli/table.h"

namespace trainscope::cli {
namespace {

using analysis::Metric;
using scenario::Sweep;
using scenario::SweepAxis;
using scenario::SweepPoint;
using Json = nlohmann::ordered_json;

std::string headed(const SweepPoint& first, const SweepPoint::Side& side, const std::string& name) {
  return first.sides.size() > 1 ? side.label + " " + name : name;
}

std::string why_not(const SweepPoint& point) {
  std::string text;
  for (const SweepPoint::Side& side : point.sides) {
    const std::string& why = side.refused.empty() ? side.ending : side.refused;
    if (why.empty()) continue;
    if (!text.empty() && text != why) text += "; ";
    if (text != why) text += point.sides.size() > 1 ? side.label + ": " + why : why;
  }
  return text;
}

Json json_of(const program::Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

Json json_of(const SweepPoint::Side& side) {
  Json metrics = Json::object();
  for (const analysis::MetricValue& one : side.metrics)
    if (std::isfinite(one.value))
      metrics[one.metric->name] = {{"value", one.value}, {"unit", one.metric->unit}};
  Json json{{"metrics", std::move(metrics)}};
  if (!side.ending.empty()) json["ended"] = side.ending;
  if (!side.refused.empty()) json["refused"] = side.refused;
  if (!side.caveat.empty()) json["caveat"] = side.caveat;
  return json;
}

Json json_of(const Sweep& sweep, const SweepPoint& point) {
  Json values = Json::object(), runs = Json::object();
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    values[sweep.axes[i].knob->name] = json_of(point.values[i]);
  for (const SweepPoint::Side& side : point.sides) runs[side.label] = json_of(side);
  return {{"values", std::move(values)}, {"runs", std::move(runs)}};
}

// Below the table: of which points, and what the last of them says.
std::string caveats_of(const Sweep& sweep) {
  std::string points, last;
  for (const SweepPoint& point : sweep.points)
    for (const SweepPoint::Side& side : point.sides) {
      if (side.caveat.empty()) continue;
      last = side.caveat;
      points += points.empty() ? "" : ", ";
      for (std::size_t i = 0; i < sweep.axes.size(); ++i)
        points += (i == 0 ? "" : " and ") + sweep.axes[i].knob->name + " = " +
                  program::show(*sweep.axes[i].knob, point.values[i]);
      if (point.sides.size() > 1) points += " (" + side.label + ")";
    }
  return points.empty() ? "" : "\nSaid too early: " + points + ". " + last + ".\n";
}

}  // namespace

std::string sweep_table(const Sweep& sweep) {
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
        row.push_back(value ? analysis::show(*metric, *value) : "-");
      }
    row.push_back(why_not(point));
    table.add(row);
  }
  return table.text() + caveats_of(sweep);
}

std::string sweep_csv(const Sweep& sweep) {
  const std::vector<const Metric*> metrics = scenario::metrics_of(sweep);
  std::vector<std::string> head;
  for (const SweepAxis& axis : sweep.axes) head.push_back(axis.knob->name);
  head.emplace_back("side");
  for (const Metric* metric : metrics)
    head.push_back(metric->name + (metric->unit == "1" ? "" : " [" + metric->unit + "]"));
  head.emplace_back("ended");
  head.emplace_back("refused");
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
      add_csv_line(text, row);
    }
  return text;
}

std::string sweep_json(const Sweep& sweep, std::int64_t seed) {
  Json vary = Json::array(), points = Json::array();
  for (const SweepAxis& axis : sweep.axes) {
    Json values = Json::array();
    for (const program::Value& value : axis.values) values.push_back(json_of(value));
    vary.push_back(
        {{"knob", axis.knob->name}, {"unit", axis.knob->unit}, {"values", std::move(values)}});
  }
  for (const SweepPoint& point : sweep.points) points.push_back(json_of(sweep, point));
  const Json json{{"origin", "simulated"},
                  {"executor", "sim"},
                  {"seed", seed},
                  {"vary", std::move(vary)},
                  {"points", std::move(points)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainscope::cli
