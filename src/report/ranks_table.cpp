// The table of a run's ranks, above its operations.

#include <algorithm>

#include "analysis/causes/rank_times.h"
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
            cell(one.idle) + "</tr>\n";
  return html + "</tbody></table>";
}

// There is one that waits for nobody, while others wait: for it.
bool has_awaited(const RunView& view) {
  constexpr double kNothing = 0.02;  // of the longest wait
  const auto& ranks = view.run->ranks;
  if (ranks.empty()) return false;
  const auto [least, most] = std::ranges::minmax(ranks, {}, &analysis::RankTimes::idle);
  return most.idle > 0 && least.idle <= kNothing * most.idle;
}

std::string caption(const std::vector<RunView>& views, const Speech& speech) {
  std::string words =
      speech.say("Times of a step; a wait counts where the GPU does nothing else meanwhile.");
  if (std::ranges::any_of(views, has_awaited))
    words += " " + speech.say("A rank that waits for nobody is the one that the others wait for.");
  return words;
}

}  // namespace

std::string ranks_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string tables;
  for (const RunView& view : views)
    if (!view.run->ranks.empty()) tables += table_html(view, speech);
  if (tables.empty()) return "";
  return "<div class=\"operations\"><h3>" + html_text(speech.say("Ranks")) + "</h3>\n" + tables +
         "<p class=\"muted small\">" + html_text(caption(views, speech)) + "</p></div>\n";
}

}  // namespace trainscope::report
