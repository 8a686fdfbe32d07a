// The bottom of the page: the config, and what is not in the report.

#include <fmt/format.h>

#include <algorithm>

#include "program/idle_knobs.h"
#include "program/shown_knob.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

std::string panel(const char* id, const std::string& title, const std::string& body) {
  return fmt::format(
      "<section class=\"panel\" aria-labelledby=\"{0}-title\">\n<div class=\"head\">"
      "<h2 id=\"{0}-title\">{1}</h2></div>\n<div class=\"body\">{2}</div>\n</section>",
      id, html_text(title), body);
}

std::string heading(const char* words, const Speech& speech) {
  return "<h3>" + html_text(speech.say(words)) + "</h3>";
}

bool differs(const RunView& view, const std::string& knob) {
  return std::find(view.differing.begin(), view.differing.end(), knob) != view.differing.end();
}

bool any_config(const std::vector<RunView>& views) {
  return std::any_of(views.begin(), views.end(),
                     [](const RunView& view) { return has_config(*view.run); });
}

// The knobs that some run sets, or in which runs differ; those that differ first.
std::vector<const program::Knob*> shown_knobs(const std::vector<RunView>& views) {
  std::vector<const program::Knob*> first, others;
  for (const program::Knob& knob : program::knobs()) {
    bool set = knob.name == "machine" || knob.name == "seed", different = false;
    for (const RunView& view : views) {
      set |= view.run->config.is_set(knob.name);
      different |= differs(view, knob.name);
    }
    if (different)
      first.push_back(&knob);
    else if (set)
      others.push_back(&knob);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

std::string knob_cell(const RunView& view, const program::Knob& knob, const Speech& speech) {
  if (!has_config(*view.run)) return "<td class=\"number none\">-</td>";
  const bool set = view.run->config.is_set(knob.name);
  if (!set && !program::idle_because(view.run->config, knob.name).empty())
    return "<td class=\"number none\">-</td>";
  return fmt::format("<td class=\"number foreign{}\"{}>{}</td>", set ? "" : " muted",
                     set ? "" : " title=\"" + html_text(speech.say("the default")) + "\"",
                     html_text(program::shown_knob(view.run->config, knob.name)));
}

std::string knob_row(const std::vector<RunView>& views, const program::Knob& knob,
                     const Speech& speech) {
  const bool different = std::any_of(views.begin(), views.end(),
                                     [&](const RunView& view) { return differs(view, knob.name); });
  std::string html =
      fmt::format("<tr{}><th scope=\"row\" title=\"{}\"><code>{}</code>{}</th>",
                  different ? " class=\"differs\"" : "", html_text(speech.say(knob.help)),
                  html_text(knob.name), different ? differs_html(speech) : "");
  for (const RunView& view : views) html += knob_cell(view, knob, speech);
  return html + "</tr>\n";
}

std::string list_html(const std::vector<std::string>& items, const std::string& kind = "ul") {
  std::string html = "<" + kind + ">";
  for (const std::string& item : items) html += "<li class=\"foreign\">" + item + "</li>";
  return html + "</" + kind + ">";
}

std::string of_run(const std::vector<RunView>& views, std::size_t i) {
  return views.size() > 1 ? html_text(views[i].run->label) + ": " : std::string();
}

std::string plural(const Speech& speech, std::int64_t count, const char* one, const char* many) {
  return html_text(told(speech, count == 1 ? one : many, count));
}

std::string dropped_html(const std::vector<RunView>& views, const Speech& speech) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto& dropped = views[i].run->trace->dropped();
    for (std::uint32_t k = 0, n = dropped.size(); k < n; ++k)
      items.push_back(of_run(views, i) + plural(speech, dropped[k].count, "{} event", "{} events") +
                      ": " + html_text(speech.say(dropped[k].reason)));
  }
  if (items.empty())
    return "<p>" + html_text(speech.say("Nothing: every event of the traces is kept.")) + "</p>";
  return list_html(items);
}

// What of one run the page folds or leaves out.
std::vector<std::string> folded_of(const RunView& view, const Speech& speech) {
  std::vector<std::string> items;
  const auto add = [&](const char* english, const auto&... words) {
    items.push_back(html_text(told(speech, english, words...)));
  };
  items.push_back(plural(speech, view.index.span_count, "{} span", "{} spans"));
  if (view.bars.cell > 0)
    items.back() +=
        html_text(told(speech,
                       ", too many for a page. Neighbours in a row that are shorter than {} are "
                       "folded into bars with their number; {} bars are here",
                       time_words(speech, static_cast<double>(view.bars.cell)), view.bars.count));
  for (const LaneBars& lane : view.bars.lanes)
    if (lane.rows_merged > 0)
      add("{}: its {} deepest rows are folded into one",
          speech.say_name(view.run->trace->lanes()[lane.lane].name), lane.rows_merged);
  if (view.gaps_left_out > 0)
    add("the {} longest idle gaps are drawn, {} shorter ones are not", view.gaps.size(),
        view.gaps_left_out);
  if (view.samples_left_out > 0)
    items.push_back(plural(speech, static_cast<std::int64_t>(view.samples_left_out),
                           "{} sample of counters left out; peaks are kept",
                           "{} samples of counters left out; peaks are kept"));
  return items;
}

std::string folded_html(const std::vector<RunView>& views, const Speech& speech) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const std::string& one : folded_of(views[i], speech))
      items.push_back(of_run(views, i) + one);
  return list_html(items);
}

std::string times_of(const analysis::RunNote& note, const Speech& speech) {
  const std::string start = time_words(speech, static_cast<double>(note.start));
  if (note.end <= note.start) return start;
  return told(speech, "{} to {}", start, time_words(speech, static_cast<double>(note.end)));
}

// What people wrote on the runs, in the order of time; numbered as in the drawing.
std::string written_html(const std::vector<RunView>& views, const Speech& speech) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const analysis::RunNote& note : views[i].run->notes)
      items.push_back(
          fmt::format("{}<strong>{}</strong><br><span class=\"muted small\">{}, {}</span>",
                      of_run(views, i), html_text(note.text),
                      html_text(speech.say_name(views[i].run->trace->lanes()[note.lane].name)),
                      html_text(times_of(note, speech))));
  if (items.empty()) return "";
  return heading("Written on the timelines", speech) + list_html(items, "ol");
}

std::string details_html(const std::string& summary, const std::string& terms) {
  if (terms.empty()) return "";
  return "<details><summary>" + html_text(summary) + "</summary><dl class=\"meanings\">" + terms +
         "</dl></details>";
}

std::string colours_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (const Colour& one : colours_of(views))
    html += fmt::format("<dt><i class=\"swatch s-{}\"></i> {}</dt><dd>{}</dd>\n", one.kind,
                        html_text(speech.say(one.name)), html_text(speech.say(one.meaning)));
  return details_html(speech.say("What the colours mean"), html);
}

std::string meanings_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (const analysis::Metric& metric : analysis::metrics()) {
    const bool shown = std::any_of(views.begin(), views.end(), [&](const RunView& view) {
      return analysis::value_of(view.run->metrics, metric.name).has_value();
    });
    if (shown)
      html += fmt::format("<dt>{} <code>{}</code></dt><dd>{}</dd>\n",
                          html_text(speech.say(metric.label)), html_text(metric.name),
                          html_text(speech.say(metric.help)));
  }
  return details_html(speech.say("What the metrics mean"), html);
}

}  // namespace

std::string config_html(const std::vector<RunView>& views, const Speech& speech) {
  if (!any_config(views)) return "";
  std::string html = "<table class=\"knobs\"><thead><tr><th scope=\"col\">" +
                     html_text(speech.say("knob")) + "</th>";
  for (const RunView& view : views)
    html += "<th scope=\"col\" class=\"number\">" +
            html_text(views.size() > 1 ? view.run->label : speech.say("value")) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const program::Knob* knob : shown_knobs(views)) html += knob_row(views, *knob, speech);
  html += "</tbody></table>\n<p class=\"muted small\">" +
          html_text(speech.say("All other knobs have their defaults."));
  if (views.size() > 1) html += " " + html_text(speech.say("A dot marks what differs."));
  return panel("config", speech.say("Config"), html + "</p>");
}

std::string notes_html(const ReportInput& input, const std::vector<RunView>& views) {
  const Speech& speech = input.speech;
  std::string html = written_html(views, speech);
  if (!input.limits.empty()) {
    html += heading("What the model leaves out", speech);
    for (const std::string& limit : input.limits)
      html += "<p class=\"foreign\">" + html_prose(limit) + "</p>";
  }
  if (!views.empty() && !any_config(views))
    html += heading("Config", speech) + "<p>" +
            html_text(speech.say("A trace file does not say how its run was configured.")) + "</p>";
  html += heading("Dropped events", speech) + dropped_html(views, speech);
  if (!views.empty()) html += heading("In this page", speech) + folded_html(views, speech);
  html += colours_html(views, speech) + meanings_html(views, speech);
  return panel("notes", speech.say("Notes"), html);
}

}  // namespace trainscope::report
