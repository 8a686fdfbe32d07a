#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "report/escape.h"
#include "report/page.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

// In units of the drawing.
constexpr double kMargin = 12, kHead = 44, kLegendLine = 22, kSwatch = 12, kLetter = 6.6,
                 kTextLine = 18;

// The declarations of the rule that begins with this selector.
std::string_view rule(std::string_view style, std::string_view selector) {
  const std::size_t at = style.find(selector);
  if (at == style.npos) return "";
  const std::size_t begin = style.find('{', at) + 1;
  return style.substr(begin, style.find('}', begin) - begin);
}

// Adds each `--name: value;`, over an older one of that name.
void add_values(std::string_view declarations,
                std::vector<std::pair<std::string, std::string>>& values) {
  for (std::size_t at = declarations.find("--"); at != declarations.npos;
       at = declarations.find("--", at)) {
    const std::size_t colon = declarations.find(':', at), end = declarations.find(';', colon);
    if (colon == declarations.npos || end == declarations.npos) return;
    const std::string name(declarations.substr(at + 2, colon - at - 2));
    std::string value(declarations.substr(colon + 1, end - colon - 1));
    value.erase(0, value.find_first_not_of(' '));
    std::erase_if(values, [&](const auto& one) { return one.first == name; });
    values.emplace_back(name, std::move(value));
    at = end;
  }
}

std::string with_values(std::string style,
                        const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string variable = "var(--" + name + ")";
    for (std::size_t at = style.find(variable); at != style.npos; at = style.find(variable, at))
      style.replace(at, variable.size(), value);
  }
  return style;
}

std::string style_of(SvgTheme theme) {
  const std::string rules = std::string(drawn_style()) +
                            ".ground { fill: var(--panel); } .title { font-weight: 600; "
                            "font-size: 15px; } .badge { fill: var(--accent-soft); } "
                            ".badge-text { fill: var(--accent); font-size: 11px; }\n";
  return with_values(rules, theme_values(page_colors(), theme));
}

double width_of(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
  });
  return static_cast<double>(letters) * kLetter;
}

// "SIMULATED" on a pill and its subject, once for all runs that share both. `right` is moved to
// where they begin.
std::string badges_svg(const std::vector<RunView>& views, double& right) {
  std::vector<std::pair<std::string, std::string>> origins;
  for (const RunView& view : views) {
    const trace::Origin& origin = view.run->trace->origin();
    const std::pair one{std::string(trace::badge(origin.kind)), origin.subject};
    if (std::find(origins.begin(), origins.end(), one) == origins.end()) origins.push_back(one);
  }
  std::string svg;
  for (auto one = origins.rbegin(); one != origins.rend(); ++one) {
    right -= width_of(one->second);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"27\" class=\"plain\">{}</text>\n", right,
                       html_text(one->second));
    const double pill = width_of(one->first) * 1.15 + 16;  // capitals are wide
    right -= pill + 8;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"13\" width=\"{:.1f}\" height=\"20\" rx=\"10\" class=\"badge\"/>"
        "<text x=\"{:.1f}\" y=\"27\" class=\"badge-text\" text-anchor=\"middle\">{}</text>\n",
        right, pill, right + pill / 2, one->first);
    right -= 16;
  }
  return svg;
}

// Names and classes of the categories that occur, and of idle time.
std::vector<std::pair<std::string, std::string>> kinds_of(const std::vector<RunView>& views,
                                                          const Speech& speech) {
  std::array<bool, trace::kCategoryCount> used{};
  bool idle = false;
  for (const RunView& view : views) {
    for (const LaneBars& lane : view.bars.lanes)
      for (const BarRow& row : lane.rows)
        for (const Bar& bar : row) used[static_cast<std::size_t>(bar.category)] = true;
    idle |= !view.gaps.empty();
  }
  std::vector<std::pair<std::string, std::string>> kinds;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string_view name = trace::name_of(static_cast<trace::Category>(i));
    if (used[i]) kinds.emplace_back(speech.say(name), slug(name));
  }
  if (idle) kinds.emplace_back(speech.say("GPU idle"), "idle");
  return kinds;
}

// At most so many letters.
std::string shortened(const std::string& text, std::size_t most) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;
    if (++letters > most) return text.substr(0, at) + "…";
  }
  return text;
}

std::size_t letters_in(double width) {
  return static_cast<std::size_t>(std::max(width / kLetter, 2.0));
}

// Below the legend: a line each, as much of it as there is room for. Returns where it ends.
double add_lines(const std::vector<std::string>& lines, double y, double width, std::string& svg) {
  for (const std::string& line : lines) {
    const std::string shown = shortened(line, letters_in(width));
    y += kTextLine;
    fmt::format_to(std::back_inserter(svg),
                   "<text x=\"{}\" y=\"{:.1f}\" class=\"plain\">{}</text>\n", kMargin, y,
                   html_text(shown));
  }
  return lines.empty() ? y : y + 8;
}

// In lines of so many letters, broken between words.
void add_wrapped(const std::string& text, std::size_t most, std::vector<std::string>& lines) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > most) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(std::move(line));
}

// Why runs ended before their programs did, whole: what is drawn is no whole run.
std::vector<std::string> shortfalls(const std::vector<RunView>& views, const Speech& speech,
                                    double width) {
  std::vector<std::string> lines;
  for (const RunView& view : views)
    if (const auto& why = view.run->ending)
      add_wrapped((views.size() > 1 ? view.run->label + ": " : "") + sim::sentence(*why, speech),
                  letters_in(width), lines);
  return lines;
}

// Returns where it ends.
double add_legend(const std::vector<RunView>& views, const Speech& speech, double y, double right,
                  std::string& svg) {
  double x = kMargin;
  const auto kinds = kinds_of(views, speech);
  if (kinds.empty()) return y;
  for (const auto& [name, kind] : kinds) {
    const double wanted = kSwatch + 6 + width_of(name);
    if (x > kMargin && x + wanted > right) x = kMargin, y += kLegendLine;
    fmt::format_to(std::back_inserter(svg),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" class=\"b-{}\"/>"
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"plain\">{}</text>\n",
                   x, y + 5, kSwatch, kSwatch, kind, x + kSwatch + 6, y + 15, html_text(name));
    x += wanted + 18;
  }
  return y + kLegendLine;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> theme_values(std::string_view style,
                                                              SvgTheme theme) {
  std::vector<std::pair<std::string, std::string>> values;
  add_values(rule(style, ":root {"), values);
  add_values(rule(style, theme == SvgTheme::kDark ? ":root[data-theme=\"dark\"] {"
                                                  : ":root, :root[data-theme=\"light\"] {"),
             values);
  return values;
}

std::string timelines_svg(const ReportInput& input, const PictureView& view, SvgTheme theme) {
  const std::vector<RunView> views = view_runs(input.runs, input.page);
  const Drawing lanes = drawn_timelines(views, view, input.speech);
  std::string legend;
  const double legend_end =
      add_legend(views, input.speech, kHead + lanes.height + 6, lanes.width - kMargin, legend);
  const double width = lanes.width - 2 * kMargin;
  const double endings_end =
      add_lines(shortfalls(views, input.speech, width), legend_end, width, legend);
  const double height = add_lines(lanes.notes, endings_end, width, legend) + 8;
  constexpr double kTitleLetter = 1.2;  // as wide as so many others
  double badges = lanes.width - kMargin;
  const std::string badges_drawn = badges_svg(views, badges);
  const std::string title = input.title.empty() ? input.speech.say("Timelines") : input.title;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" class=\"ground\"/>\n<g class=\"drawn\">\n"
      "<text x=\"{4}\" y=\"28\" class=\"title\">{9}</text>\n{5}"
      "<g transform=\"translate(0 {6})\">\n{7}</g>\n{8}</g>\n</svg>\n",
      lanes.width, height, html_text(title), style_of(theme), kMargin, badges_drawn, kHead,
      lanes.body, legend,
      html_text(shortened(title, letters_in((badges - kMargin) / kTitleLetter))));
}

}  // namespace trainscope::report
