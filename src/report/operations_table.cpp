// The table of operations, under the metrics: of two runs beside one another, or of one alone.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/operations.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

using analysis::OperationRow;

constexpr std::size_t kMostRows = 24;  // the rest is in the window's CSV file

std::string cell(const std::string& words) {
  return "<td class=\"number\">" + html_text(words) + "</td>";
}

std::string figures_html(const OperationRow::Figures& figures, const Speech& speech) {
  if (figures.durations.empty()) return cell("-") + cell("-") + cell("-");
  return cell(speech.number(fmt::format("{:.4g}", figures.count))) +
         cell(speech.number(format_nanos(figures.total))) +
         cell(speech.number(format_nanos(figures.mean)));
}

// Of one run: what a call of the host takes itself, and what it gives to the GPU.
std::string use_html(const OperationRow& row, const Speech& speech) {
  if (row.where == analysis::Operation::Where::kGpu) return cell("") + cell("");
  return cell(speech.number(format_nanos(row.a.self))) +
         cell(speech.number(format_nanos(row.a.gpu)));
}

std::string difference_words(double nanos) {
  if (nanos == 0) return "0";
  return (nanos < 0 ? "\u2212" : "+") + format_nanos(std::abs(nanos));
}

// The last column: what a run's operations make up of it, or how two runs differ.
std::string last_head(const std::vector<RunView>& views) {
  if (views.size() == 2) return "difference";
  return analysis::share_of_what(views[0].run->facts.measured);
}

std::string last_cell(const OperationRow& row, const std::vector<RunView>& views) {
  if (views.size() == 2) return difference_words(row.difference());
  return fmt::format("{:.1f} %", 100 * analysis::share_of(row.a, views[0].run->facts.measured));
}

std::string head_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html = "<thead><tr><th scope=\"col\">" + html_text(speech.say("operation")) + "</th>";
  for (const RunView& view : views)
    for (const char* figure : {"count", "total", "mean"})
      html += "<th scope=\"col\" class=\"number\">" +
              (views.size() > 1 ? html_text(view.run->label) + " " : std::string()) +
              html_text(speech.say(figure)) + "</th>";
  if (views.size() == 1)
    for (const char* figure : {"self", "on GPU"})
      html += "<th scope=\"col\" class=\"number\">" + html_text(speech.say(figure)) + "</th>";
  return html + "<th scope=\"col\" class=\"number\">" + html_text(speech.say(last_head(views))) +
         "</th></tr></thead>";
}

std::string row_html(const OperationRow& row, const std::vector<RunView>& views,
                     const Speech& speech) {
  std::string html = fmt::format(
      "<tr><th scope=\"row\" title=\"{}\">{} <span class=\"muted\">{}</span></th>",
      html_text(row.name), html_text(row.shown), html_text(speech.say(name_of(row.where))));
  html += figures_html(row.a, speech);
  html += views.size() == 2 ? figures_html(row.b, speech) : use_html(row, speech);
  return html + cell(speech.number(last_cell(row, views))) + "</tr>\n";
}

// Of one run what its GPU does stands before what its host does, so many rows of each: a host's
// calls include one another, and their times would fill the table.
std::vector<OperationRow> longest_of_each(const std::vector<OperationRow>& rows) {
  std::vector<OperationRow> longest;
  for (const auto where : {analysis::Operation::Where::kGpu, analysis::Operation::Where::kHost}) {
    std::size_t count = 0;
    for (const OperationRow& row : rows)
      if (row.where == where && count++ < kMostRows / 2) longest.push_back(row);
  }
  return longest;
}

struct Listed {
  std::vector<OperationRow> rows;
  std::size_t all = 0;
};

Listed listed(const std::vector<RunView>& views) {
  const analysis::Measured& first = views[0].run->facts.measured;
  std::vector<OperationRow> rows =
      views.size() == 2 ? analysis::compare_operations(first, views[1].run->facts.measured)
                        : analysis::operation_rows(first);
  const std::size_t all = rows.size();
  if (views.size() == 1) return {longest_of_each(rows), all};
  rows.resize(std::min(all, kMostRows));
  return {std::move(rows), all};
}

}  // namespace

std::string operations_html(const std::vector<RunView>& views, const Speech& speech) {
  if (views.empty() || views.size() > 2) return "";
  const Listed operations = listed(views);
  if (operations.all == 0) return "";
  const bool steps = views.size() == 2 || views[0].run->facts.measured.steps > 0;
  std::string html = "<div class=\"operations\"><h3>" +
                     html_text(speech.say(steps ? "Operations, a step" : "Operations")) +
                     "</h3>\n<table class=\"metrics\">" + head_html(views, speech) + "<tbody>\n";
  for (const OperationRow& row : operations.rows) html += row_html(row, views, speech);
  html += "</tbody></table>";
  const char* left_out = views.size() == 2
                             ? "The {} operations of {} that differ most."
                             : "The {} longest operations of {}: of the GPU, then of the host.";
  if (operations.rows.size() < operations.all)
    html +=
        "<p class=\"muted small\">" +
        fmt::format(fmt::runtime(speech.say(left_out)), operations.rows.size(), operations.all) +
        "</p>";
  return html + "</div>\n";
}

}  // namespace trainscope::report
