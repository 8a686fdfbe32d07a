// The table of operations of two runs, under their metrics.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/operations.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/sections.h"
#include "trace/labels.h"

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

std::string difference_words(double nanos) {
  if (nanos == 0) return "0";
  return (nanos < 0 ? "\u2212" : "+") + format_nanos(std::abs(nanos));
}

std::string head_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html = "<thead><tr><th scope=\"col\">" + html_text(speech.say("operation")) + "</th>";
  for (const RunView& view : views)
    for (const char* figure : {"count", "total", "mean"})
      html += "<th scope=\"col\" class=\"number\">" + html_text(view.run->label) + " " +
              html_text(speech.say(figure)) + "</th>";
  return html + "<th scope=\"col\" class=\"number\">" + html_text(speech.say("difference")) +
         "</th></tr></thead>";
}

}  // namespace

std::string operations_html(const std::vector<RunView>& views, const Speech& speech) {
  if (views.size() != 2) return "";
  const auto rows =
      analysis::compare_operations(views[0].run->facts.measured, views[1].run->facts.measured);
  if (rows.empty()) return "";
  std::string html = "<div class=\"operations\"><h3>" +
                     html_text(speech.say("Operations, a step")) +
                     "</h3>\n<table class=\"metrics\">" + head_html(views, speech) + "<tbody>\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const OperationRow& row = rows[i];
    html += fmt::format(
        "<tr><th scope=\"row\" title=\"{}\">{} <span class=\"muted\">{}</span></th>",
        html_text(row.name), html_text(trace::short_name(row.name)), name_of(row.where));
    html += figures_html(row.a, speech) + figures_html(row.b, speech) +
            cell(speech.number(difference_words(row.difference()))) + "</tr>\n";
  }
  html += "</tbody></table>";
  if (rows.size() > kMostRows)
    html += "<p class=\"muted small\">" +
            fmt::format(fmt::runtime(speech.say("The {} operations of {} that differ most.")),
                        kMostRows, rows.size()) +
            "</p>";
  return html + "</div>\n";
}

}  // namespace trainscope::report
