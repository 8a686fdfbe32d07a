#include "report/chart.h"

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {

double Scale::at(double value) const {
  const double share = to > from ? (value - from) / (to - from) : 0;
  return start + std::clamp(share, 0.0, 1.0) * (end - start);
}

std::string view_html(const ViewPanel& panel) {
  return fmt::format(
      "<section class=\"panel view\" aria-labelledby=\"{0}-title\">\n<div class=\"head\">"
      "<h2 id=\"{0}-title\">{1}</h2><span class=\"aside\">{2}</span></div>\n"
      "<div class=\"body\">\n{3}</div>\n</section>\n",
      panel.id, html_text(panel.title), panel.badges_html, panel.body_html);
}

std::string drawing_html(double width, double height, const std::string& label,
                         const std::string& svg) {
  return fmt::format(
      "<div class=\"chart\"><svg class=\"drawn\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg></div>\n",
      width, height, html_text(label), svg);
}

std::string text_svg(double x, double y, std::string_view kind, std::string_view anchor,
                     const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                     x, y, kind, anchor, html_text(words));
}

std::string rect_svg(double x, double y, double width, double height, std::string_view kind) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", x, y,
      width, height, kind);
}

std::string span_svg(double left, double right, double y, double height, std::string_view kind) {
  return rect_svg(std::min(left, right), y, std::abs(right - left), height, kind);
}

std::string time_axis_svg(const Scale& x, double top, double bottom, const Speech& speech) {
  const double tick = tick_step(std::max(x.to - x.from, 1.0), 10);
  std::string svg;
  for (const double time : multiples(tick, x.from, x.to)) {
    svg +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x.at(time), top, bottom);
    // The last label has no room to the right of its tick.
    if (x.at(time) < x.end - 30)
      svg += text_svg(x.at(time), bottom + 15, "axis", time == x.from ? "start" : "middle",
                      speech.number(format_tick(time)));
  }
  return svg;
}

std::string level_svg(double left, double right, double y, const std::string& words) {
  return fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y, right) +
         text_svg(left - 8, y + 4, "axis", "end", words);
}

std::vector<std::string> heads_of(const std::vector<RunView>& views,
                                  const std::vector<std::size_t>& runs) {
  std::vector<std::string> heads;
  for (const std::size_t run : runs)
    heads.push_back(views.size() > 1 ? views[run].run->label : std::string());
  return heads;
}

std::string figures_html(const std::string& title, const std::vector<std::string>& heads,
                         const std::vector<FigureRow>& rows) {
  std::string html = "<table class=\"metrics figures-of-view\"><thead><tr><th scope=\"col\">" +
                     html_text(title) + "</th>";
  for (const std::string& head : heads)
    html += "<th scope=\"col\" class=\"number\">" + html_text(head) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const FigureRow& row : rows) {
    html += "<tr><th scope=\"row\" class=\"foreign\">";
    if (!row.swatch.empty()) html += "<i class=\"swatch " + row.swatch + "\"></i> ";
    html += html_text(row.name) + "</th>";
    for (const std::string& value : row.values)
      html += "<td class=\"number\">" + html_text(value.empty() ? "-" : value) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string remark_html(const std::string& words) {
  return "<p class=\"muted small\">" + html_text(words) + "</p>\n";
}

std::string run_words_html(const std::vector<RunView>& views, std::size_t run,
                           const std::string& words) {
  const std::string mark = side_mark(views, run);
  return "<p class=\"foreign\">" + (mark.empty() ? mark : mark + " ") + html_text(words) + "</p>\n";
}

std::string time_words(const Speech& speech, double nanos) {
  return speech.number(format_nanos(nanos));
}

std::string bytes_words(const Speech& speech, double bytes) {
  return speech.number(format_bytes(bytes));
}

std::string share_words(const Speech& speech, double share) {
  return speech.number(fmt::format("{:.1f} %", 100 * share));
}

}  // namespace trainscope::report
