#include "scenario/sheet_solution.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/speech.h"
#include "scenario/named_metrics.h"

namespace trainscope::scenario {
namespace {

using analysis::SheetChange;

// A column of the table, and the run that it is of.
struct Column {
  analysis::SheetColumn head;
  const analysis::Run* run = nullptr;
};

std::vector<Column> columns_of(const Sides& before, const SolvedRuns& solved) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string& side = before[i]->label;
    if (solved.sides[i] == before[i]) {
      columns.push_back({{side, ""}, before[i]});
      continue;
    }
    columns.push_back({{side, "before"}, before[i]});
    columns.push_back({{side, "after"}, solved.sides[i]});
  }
  return columns;
}

std::set<std::string> turned_knobs(const TurnedKnobs& solution) {
  std::set<std::string> names;
  for (const program::Config* side : {&solution.a, &solution.b})
    for (const auto& [name, value] : side->values()) names.insert(name);
  return names;
}

SheetChange knob_row(const program::Knob& knob, const std::vector<Column>& columns, char decimal) {
  SheetChange row{knob.name, true, {}};
  for (const Column& column : columns)
    row.values.push_back(
        with_decimal(program::show(knob, column.run->config.value(knob.name)), decimal));
  return row;
}

SheetChange metric_row(const analysis::Metric& metric, const std::vector<Column>& columns,
                       char decimal) {
  SheetChange row{metric.label, false, {}};
  for (const Column& column : columns) {
    const auto value = analysis::value_of(column.run->metrics, metric.name);
    const bool applies = value && std::isfinite(*value);
    row.values.push_back(applies ? with_decimal(analysis::show(metric, *value), decimal) : "");
  }
  return row;
}

bool applies(const SheetChange& row) {
  return std::ranges::any_of(row.values, [](const std::string& value) { return !value.empty(); });
}

}  // namespace

analysis::SheetSolution sheet_solution(const Step& step, const Sides& before,
                                       const SolvedRuns& solved, char decimal) {
  const std::vector<Column> columns = columns_of(before, solved);
  const std::set<std::string> turned = turned_knobs(*step.solution);
  analysis::SheetSolution sheet;
  for (const Column& column : columns) sheet.columns.push_back(column.head);
  for (const program::Knob& knob : program::knobs())
    if (turned.contains(knob.name)) sheet.changes.push_back(knob_row(knob, columns, decimal));
  for (const analysis::Metric* metric : metrics_of_goal(step))
    if (SheetChange row = metric_row(*metric, columns, decimal); applies(row))
      sheet.changes.push_back(std::move(row));
  for (std::size_t i = 0; i < before.size(); ++i)
    if (solved.sides[i] != before[i]) sheet.origin = solved.sides[i]->trace->origin().kind;
  return sheet;
}

}  // namespace trainscope::scenario
