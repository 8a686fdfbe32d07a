#include "report/time_table.h"

#include <algorithm>

#include "base/ticks.h"
#include "report/chart.h"
#include "report/escape.h"

namespace trainscope::report {
namespace {

using analysis::Interval;

double percent(const TimeTable& table, Nanos time) {
  const double share = static_cast<double>(time - table.start) / static_cast<double>(table.length);
  return 100 * std::clamp(share, 0.0, 1.0);
}

std::string bars_html(const TimeTable& table, const TimeRow& row) {
  std::string html;
  for (const TimeBar& bar : row.bars) {
    if (bar.time.end < table.start || bar.time.start > table.start + table.length) continue;
    const double left = percent(table, bar.time.start);
    html += fmt::format("<i class=\"{}\" style=\"left:{:.2f}%;width:{:.2f}%\"></i>", bar.kind, left,
                        percent(table, bar.time.end) - left);
  }
  return "<td class=\"times\"><span class=\"track\" aria-hidden=\"true\">" + html + "</span></td>";
}

std::string axis_html(const TimeTable& table, const Speech& speech) {
  constexpr double kTicks = 6, kLast = 0.94;  // the last label has no room to the right of its tick
  const auto length = static_cast<double>(table.length);
  const double tick = tick_step(length, kTicks);
  std::string html;
  for (const double time : multiples(tick, 0, kLast * length))
    html += fmt::format("<em style=\"left:{:.2f}%\">{}</em>", 100 * time / length,
                        html_text(speech.number(format_tick(time))));
  return "<td class=\"times\"><span class=\"ticks\" aria-hidden=\"true\">" + html + "</span></td>";
}

std::string row_html(const TimeTable& table, const TimeRow& row) {
  std::string html = "<tr><th scope=\"row\" class=\"foreign\">" + html_text(row.name) + "</th>";
  for (const std::string& cell : row.cells)
    html += "<td class=\"number\">" + html_text(cell) + "</td>";
  return html + bars_html(table, row) + "</tr>\n";
}

}  // namespace

std::string time_table_html(const TimeTable& table, const Speech& speech) {
  std::string html = "<table class=\"metrics time-table\"><thead><tr><th scope=\"col\">" +
                     html_text(table.title) + "</th>";
  for (const std::string& head : table.heads)
    html += "<th scope=\"col\" class=\"number\">" + html_text(head) + "</th>";
  html += axis_html(table, speech) + "</tr></thead><tbody>\n";
  for (const TimeRow& row : table.rows) html += row_html(table, row);
  return html + "</tbody></table>\n";
}

std::vector<Interval> joined(const analysis::IntervalSet& set, Interval range, std::size_t most) {
  const Nanos apart =
      (range.end - range.start) / static_cast<Nanos>(std::max<std::size_t>(most, 1));
  std::vector<Interval> bars;
  for (const Interval& one : set.intervals()) {
    const Interval cut{std::max(one.start, range.start), std::min(one.end, range.end)};
    if (cut.start >= cut.end) continue;
    if (!bars.empty() && cut.start - bars.back().end <= apart)
      bars.back().end = cut.end;
    else
      bars.push_back(cut);
  }
  return bars;
}

}  // namespace trainscope::report
