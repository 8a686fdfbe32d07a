// The listing of each run, beside the timelines.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "program/listing_difference.h"
#include "program/wrapped_line.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

using Lines = std::vector<std::string>;

const Lines* lines_of(const RunView& view) {
  const program::Program* program = view.run->program.get();
  return program && !program->listing.lines.empty() ? &program->listing.lines : nullptr;
}

// With the places, besides its blanks, where a browser may break it.
std::string breakable(std::string_view line) {
  std::string html;
  std::size_t from = 0;
  for (const std::size_t at : program::breaks_in_brackets(line)) {
    html += html_text(line.substr(from, at - from)) + "<wbr>";
    from = at;
  }
  return html + html_text(line.substr(from));
}

// The indent apart from the rest, so that a long line that is wrapped keeps it.
std::string line_html(std::string_view line, std::size_t number, bool differs,
                      const Speech& speech) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  return fmt::format("<li{} data-line=\"{}\"><code><span>{}</span><span>{}</span></code>{}</li>\n",
                     differs ? " class=\"differs\"" : "", number, line.substr(0, indent),
                     breakable(line.substr(indent)), differs ? differs_html(speech) : "");
}

std::string panel_html(const std::vector<RunView>& views, std::size_t run, const Lines& lines,
                       const Lines* other, const std::string& runs, const Speech& speech) {
  const std::vector<bool> only =
      other ? program::lines_only_in(lines, *other) : std::vector<bool>(lines.size(), false);
  std::string html =
      fmt::format("<div class=\"listing\" id=\"listing-{}\" data-runs=\"{}\">\n", run, runs);
  if (views.size() > 1)
    html += fmt::format("<h3>{}</h3>\n", runs.size() > 1 ? html_text(speech.say("All sides"))
                                                         : side_mark(views, run));
  html += "<ol>";
  for (std::size_t i = 0; i < lines.size(); ++i)
    html += line_html(lines[i], i + 1, only[i], speech);
  return html + "</ol></div>\n";
}

}  // namespace

std::string listing_html(const std::vector<RunView>& views, const Speech& speech) {
  std::vector<std::size_t> with;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (lines_of(views[i])) with.push_back(i);
  if (with.empty()) return "";
  const bool same = std::all_of(with.begin(), with.end(), [&](std::size_t i) {
    return *lines_of(views[i]) == *lines_of(views[with.front()]);
  });
  std::string panels, all;
  for (const std::size_t i : with) all += fmt::format("{}{}", all.empty() ? "" : " ", i);
  for (std::size_t k = 0; k < with.size(); ++k) {
    if (same && k > 0) break;
    const Lines* other = with.size() == 2 && !same ? lines_of(views[with[1 - k]]) : nullptr;
    panels += panel_html(views, with[k], *lines_of(views[with[k]]), other,
                         same ? all : std::to_string(with[k]), speech);
  }
  return "<section class=\"panel code\" aria-labelledby=\"code-title\">\n<div class=\"head\">"
         "<h2 id=\"code-title\">" +
         html_text(speech.say("Code")) + "</h2><div id=\"tabs\" class=\"tabs js\"></div></div>\n" +
         panels + "</section>";
}

}  // namespace trainscope::report
