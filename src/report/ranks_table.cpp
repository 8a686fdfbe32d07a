// The table of a run's ranks, above its operations.

#include "analysis/rank_times.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

std::string table_html(const RunView& view, const Speech& speech) {
  const auto head = [&](const char* words) {
    return "<th scope=\"col\" class=\"number\">" + html_text(speech.say(words)) + "</th>";
  };
  const auto cell = [&](double nanos) {
    return "<td class=\"number\">" + html_text(speech.number(format_nanos(nanos))) + "</td>";
  };
  std::string html = "<table class=\"metrics ranks\"><thead><tr><th scope=\"col\">" +
                     html_text(speech.say("rank of") + " " + view.run->label) + "</th>" +
                     head("GPU busy") + head("waits for others") + "</tr></thead><tbody>\n";
  for (const analysis::RankTimes& one : view.run->ranks)
    html += "<tr><th scope=\"row\">" + std::to_string(one.rank) + "</th>" + cell(one.busy) +
            cell(one.wait) + "</tr>\n";
  return html + "</tbody></table>";
}

}  // namespace

std::string ranks_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string tables;
  for (const RunView& view : views)
    if (!view.run->ranks.empty()) tables += table_html(view, speech);
  if (tables.empty()) return "";
  return "<div class=\"operations\"><h3>" + html_text(speech.say("Ranks")) + "</h3>\n" + tables +
         "<p class=\"muted small\">" +
         html_text(
             speech.say("A rank that waits for nobody is the one that the others wait for.")) +
         "</p></div>\n";
}

}  // namespace trainscope::report
