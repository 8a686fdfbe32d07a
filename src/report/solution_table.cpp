#include "report/solution_table.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

using analysis::SheetChange;
using analysis::SheetColumn;
using analysis::SheetSolution;

std::string head_html(const SheetSolution& solution, const Speech& speech) {
  std::string html = "<thead><tr><th></th>";
  for (const SheetColumn& column : solution.columns)
    html +=
        fmt::format("<th scope=\"col\" class=\"number\">{}{}</th>", html_text(column.side),
                    column.when.empty() ? std::string() : " " + html_text(speech.say(column.when)));
  return html + "</tr></thead>";
}

// A knob that is turned stands out where it is.
bool is_turned(const SheetSolution& solution, const SheetChange& change, std::size_t column) {
  return change.is_knob && solution.columns[column].when == "after" &&
         change.values[column] != change.values[column - 1];
}

std::string row_html(const SheetSolution& solution, const SheetChange& change,
                     const Speech& speech) {
  const std::string name = change.is_knob ? "<code>" + html_text(change.name) + "</code>"
                                          : html_text(speech.say(change.name));
  std::string html =
      fmt::format("<tr{}><th scope=\"row\">{}</th>", change.is_knob ? " class=\"knob\"" : "", name);
  for (std::size_t i = 0; i < change.values.size(); ++i) {
    const std::string& value = change.values[i];
    const std::string text = value.empty() ? "-" : html_text(value);
    html += is_turned(solution, change, i)
                ? "<td class=\"number\"><b>" + text + "</b></td>"
                : fmt::format("<td class=\"number{}\">{}</td>", value.empty() ? " none" : "", text);
  }
  return html + "</tr>\n";
}

}  // namespace

std::string solution_html(const SheetSolution& solution, const Speech& speech) {
  std::string rows;
  for (const SheetChange& change : solution.changes) rows += row_html(solution, change, speech);
  return "<div class=\"answer solution\"><span class=\"label\">" +
         html_text(speech.say("Solution")) + " " + badge_html(solution.origin, speech) +
         "</span>\n<table class=\"metrics\">" + head_html(solution, speech) + "<tbody>\n" + rows +
         "</tbody></table></div>\n";
}

}  // namespace trainscope::report
