// The table of operations, under the metrics: of two runs beside one another, or of one alone.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views/operations.h"
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
  std::size_t alike = 0;  // in both runs
};

Listed listed(const std::vector<RunView>& views) {
  const analysis::Measured& first = views[0].run->facts.measured;
  Listed list;
  if (views.size() == 1) {
    list.rows = analysis::operation_rows(first);
    list.all = list.rows.size();
    list.rows = longest_of_each(list.rows);
    return list;
  }
  list.rows = analysis::compare_operations(first, views[1].run->facts.measured);
  list.all = list.rows.size();
  list.alike = analysis::erase_alike(list.rows);
  list.rows.resize(std::min(list.rows.size(), kMostRows));
  return list;
}

std::string table_html(const std::vector<OperationRow>& rows, const std::vector<RunView>& views,
                       const Speech& speech) {
  if (rows.empty()) return "";
  std::string html = "<table class=\"metrics\">" + head_html(views, speech) + "<tbody>\n";
  for (const OperationRow& row : rows) html += row_html(row, views, speech);
  return html + "</tbody></table>";
}

// What is not in the table.
std::string left_out_words(const Listed& list, bool two, const Speech& speech) {
  const std::size_t shown = list.rows.size();
  if (list.alike == list.all && two)
    return list.all == 1 ? speech.say("The only operation takes as long in both.")
                         : told(speech, "All {} operations take as long in both.", list.all);
  if (list.alike == 1 && shown + 1 == list.all)
    return told(speech, "The other one of {} operations takes as long in both.", list.all);
  if (list.alike > 0 && shown + list.alike == list.all)
    return told(speech, "The other {} of {} operations take as long in both.", list.alike,
                list.all);
  if (shown == list.all) return "";
  const char* words = two ? "The {} operations of {} that differ most."
                          : "The {} longest operations of {}: of the GPU, then of the host.";
  return told(speech, words, shown, list.all);
}

}  // namespace

std::string operations_html(const std::vector<RunView>& views, const Speech& speech) {
  if (views.empty() || views.size() > 2) return "";
  const Listed operations = listed(views);
  if (operations.all == 0) return "";
  const bool steps = views.size() == 2 || views[0].run->facts.measured.steps > 0;
  const std::string left_out = left_out_words(operations, views.size() == 2, speech);
  std::string html = "<div class=\"operations\"><h3>" +
                     html_text(speech.say(steps ? "Operations, a step" : "Operations")) +
                     "</h3>\n" + table_html(operations.rows, views, speech);
  if (!left_out.empty()) html += "<p class=\"muted small\">" + html_text(left_out) + "</p>";
  return html + "</div>\n";
}

}  // namespace trainscope::report
