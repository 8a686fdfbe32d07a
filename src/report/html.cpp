#include "report/html.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/flow_chart.h"
#include "report/loss_chart.h"
#include "report/memory_chart.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/picture.h"
#include "report/roofline_chart.h"
#include "report/scaling_chart.h"
#include "report/sections.h"
#include "report/sm_chart.h"
#include "report/template.h"

namespace trainscope::report {
namespace {

std::string axis_note(const std::vector<RunView>& views, const Speech& speech) {
  if (views.size() < 2) return "";
  return html_text(speech.say("one axis for all sides, each from its own start"));
}

std::string keys_html(const Speech& speech) {
  const auto key = [](const char* name) { return fmt::format("<kbd>{}</kbd>", name); };
  const std::string words = html_text(speech.say(
      "Wheel or {} {} zooms, drag or {} {} pans, double click or {} fits, click selects, {} {} go "
      "to the span before and after, {} {} to another row, {} lets go."));
  return fmt::format(fmt::runtime(words), key("+"), key("-"), key("&larr;"), key("&rarr;"),
                     key("F"), key(","), key("."), key("&uarr;"), key("&darr;"), key("Esc"));
}

// What the runs have to show beside their timelines.
std::string views_html(const ReportInput& input, const std::vector<RunView>& views) {
  return memory_html(views, input.page, input.speech) +
         scaling_html(views, input.page, input.speech) + sm_html(views, input.speech) +
         roofline_html(views, input.page, input.speech) +
         flow_html(views, input.page, input.speech);
}

}  // namespace

std::string html_report(const ReportInput& input) {
  const std::vector<RunView> views = view_runs(input.runs, input.page);
  const std::string listing = listing_html(views, input.speech);
  Parts parts;
  parts["language"] = html_text(input.language.empty() ? "en" : input.language);
  parts["title"] = html_text(input.title.empty() ? input.speech.say("Report") : input.title);
  parts["style"] = page_style();
  parts["script"] = page_script();
  parts["badges"] = badges_html(views, input.speech);
  parts["summary"] = summary_html(input, views);
  parts["timeline_row"] = listing.empty()     ? "without-code"
                          : views.size() == 1 ? "with-code single"
                                              : "with-code";
  parts["timelines"] = html_text(input.speech.say("Timelines"));
  parts["keys"] = keys_html(input.speech);
  parts["axis_note"] = axis_note(views, input.speech);
  parts["picture"] = picture_svg(views, input.speech);
  parts["legend"] = legend_html(views, input.speech);
  parts["listing"] = listing;
  parts["views"] = views_html(input, views);
  parts["compare"] = compare_html(input, views);
  parts["loss"] = loss_html(views, input.speech);
  parts["config"] = config_html(views, input.speech);
  parts["notes"] = notes_html(input, views);
  parts["footer"] = footer_html(input, views);
  parts["data"] = page_data(views, input.speech);
  return filled(page_template(), parts, input.speech);
}

}  // namespace trainscope::report
