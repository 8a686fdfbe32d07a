// The top of the page: badges, headline, times, facts, text, legend, footer.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/what_if.h"
#include "analysis/causes/diagnosis.h"
#include "program/shown_knob.h"
#include "report/chart.h"
#include "report/comparison.h"
#include "report/escape.h"
#include "report/sections.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

std::string_view meaning_of(trace::OriginKind kind) {
  switch (kind) {
    case trace::OriginKind::kSimulated:
      return "computed by Trainscope's model of this machine; no GPU took part";
    case trace::OriginKind::kMeasured:
      return "measured on this device";
    case trace::OriginKind::kImported:
      return "read from a trace file that another program wrote";
  }
  return "";
}

// A fact that all runs share once, else a run each.
using Fact = std::string (*)(const analysis::Run&);

std::string fact_html(const std::string& term, const std::vector<RunView>& views, Fact fact) {
  std::vector<std::string> values;
  values.reserve(views.size());
  for (const RunView& view : views) values.push_back(fact(*view.run));
  const bool none = std::all_of(values.begin(), values.end(), [](auto& v) { return v.empty(); });
  if (none) return "";
  const bool same = std::all_of(values.begin(), values.end(),
                                [&](const std::string& value) { return value == values.front(); });
  std::string html = fmt::format("<div><dt>{}</dt>", html_text(term));
  if (same) return html + "<dd class=\"foreign\">" + html_text(values.front()) + "</dd></div>";
  for (std::size_t i = 0; i < values.size(); ++i)
    html += fmt::format("<dd class=\"foreign\">{} {}</dd>", side_mark(views, i),
                        values[i].empty() ? "-" : html_text(values[i]));
  return html + "</div>";
}

std::string machine_of(const analysis::Run& run) {
  return run.trace->origin().kind == trace::OriginKind::kImported ? ""
                                                                  : run.trace->origin().subject;
}
std::string file_of(const analysis::Run& run) {
  return run.trace->origin().kind == trace::OriginKind::kImported ? run.trace->origin().subject
                                                                  : "";
}
std::string host_of(const analysis::Run& run) {
  return run.trace->origin().kind == trace::OriginKind::kSimulated ? run.trace->origin().detail
                                                                   : "";
}
std::string recorder_of(const analysis::Run& run) {
  return run.trace->origin().kind == trace::OriginKind::kSimulated ? ""
                                                                   : run.trace->origin().detail;
}
std::string seed_of(const analysis::Run& run) {
  return has_config(run) ? program::spell(run.config.value("seed")) : "";
}

std::string facts_html(const ReportInput& input, const std::vector<RunView>& views) {
  std::string html = "<dl class=\"facts\">";
  const auto say = [&](const char* term) { return input.speech.say(term); };
  html += fact_html(say("machine"), views, machine_of);
  html += fact_html(say("file"), views, file_of);
  html += fact_html(say("host profile"), views, host_of);
  html += fact_html(say("recorded by"), views, recorder_of);
  html += fact_html(say("seed"), views, seed_of);
  if (!input.version.empty())
    html += "<div><dt>Trainscope</dt><dd>" + html_text(input.version) + "</dd></div>";
  return html + "</dl>";
}

std::string setting_of(const RunView& view, const std::string& name) {
  return name + "=" + program::shown_knob(view.run->config, name);
}

std::string figure_html(const Speech& speech, const std::vector<RunView>& views, std::size_t i) {
  const RunView& view = views[i];
  const analysis::MetricValue* time = main_time(*view.run);
  std::string html = "<div class=\"figure\">" + side_mark(views, i);
  html += fmt::format("<div><strong>{}</strong> <span class=\"muted\">{}</span>",
                      time ? html_text(speech.number(shown(*view.run, *time->metric, time->value)))
                           : speech.say("no time"),
                      time ? html_text(speech.say(time->metric->label)) : "");
  if (views.size() > 1 && !has_config(*view.run))
    html += "<code class=\"foreign\">" + html_text(view.run->trace->origin().subject) + "</code>";
  constexpr std::size_t kShown = 4;
  for (std::size_t k = 0; k < std::min(view.differing.size(), kShown); ++k)
    html += "<code>" + html_text(setting_of(view, view.differing[k])) + "</code>";
  if (view.differing.size() > kShown)
    html += "<span class=\"muted\">" +
            fmt::format(fmt::runtime(speech.say("and {} more under Config")),
                        view.differing.size() - kShown) +
            "</span>";
  return html + "</div></div>";
}

// With a capital: it follows a title that ends in a full stop.
std::string begun_large(std::string sentence) {
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence;
}

// Why runs ended before their programs did, or say less than they seem to.
std::string shortfalls_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (const auto& why = views[i].run->ending)
      html += "<p class=\"shortfall\" role=\"note\">" + side_mark(views, i) + " <strong>" +
              html_text(speech.say(sim::title_of(*why))) + ".</strong> " +
              html_prose(begun_large(sim::sentence_below_title(*why, speech))) + ".</p>";
    else if (!views[i].run->caveat.empty())
      html += "<p class=\"shortfall\" role=\"note\">" + side_mark(views, i) + " " +
              html_text(speech.say_name(views[i].run->caveat)) + ".</p>";
  return html;
}

// What takes the time of the one run, and what to try.
std::string diagnosis_html(const analysis::Run& run, const analysis::WhatIf* asked,
                           const Speech& speech) {
  const std::vector<analysis::Finding> findings = analysis::diagnose(run, speech, asked);
  if (findings.empty()) return "";
  std::string html = "<div class=\"prose\"><ul>";
  for (const analysis::Finding& one : findings)
    html += "<li><strong>" + html_text(analysis::headline(one, speech)) + ".</strong> " +
            html_text(analysis::sentence(one)) + "</li>";
  return html + "</ul></div>";
}

// What its memory holds at most with a change.
std::string memory_html(const analysis::WhatIf& found, const analysis::Altered& one,
                        const Speech& speech) {
  const std::string words = analysis::memory_words(found, one, speech);
  return words.empty()
             ? ""
             : " <span class=\"muted\">" + html_text(told(speech, "memory: {}", words)) + "</span>";
}

// What it would bring to change one thing.
std::string what_if_html(const std::optional<analysis::WhatIf>& found, const Speech& speech) {
  const std::string title =
      "<div class=\"prose\"><p><strong>" + html_text(speech.say("What if")) + "</strong>";
  if (found && !found->refusal.empty())
    return title + ": " + html_text(found->refusal) + "</p></div>";
  if (!found || (found->changes.empty() && analysis::words_below(*found).empty())) return "";
  std::string html = title + " (" + html_text(analysis::heading(*found, speech)) + ")</p><ul>";
  for (const analysis::Altered& one : found->changes)
    html += "<li>" + html_text(speech.say_name(one.words)) + ": <strong>" +
            html_text(time_words(speech, static_cast<double>(one.time))) + "</strong>, " +
            html_text(time_words(speech, static_cast<double>(one.time - found->replayed))) +
            (found->of_knobs ? " <code>" + html_text(analysis::text_of(one)) + "</code>" : "") +
            memory_html(*found, one, speech) + "</li>";
  html += "</ul>";
  for (const std::string& one : analysis::words_below(*found, speech))
    html += "<p class=\"muted\">" + html_text(one) + "</p>";
  return html + "</div>";
}

std::string asked_html(const analysis::Run& run, const Speech& speech) {
  const std::optional<analysis::WhatIf> asked = analysis::what_if(run);
  return diagnosis_html(run, asked ? &*asked : nullptr, speech) + what_if_html(asked, speech);
}

}  // namespace

std::string badge_html(trace::OriginKind kind, const Speech& speech, const std::string& label) {
  return fmt::format("<span class=\"badge\" title=\"{}\">{}{}</span>",
                     html_text(speech.say(meaning_of(kind))),
                     label.empty() ? label : html_text(label) + " ", trace::badge(kind));
}

std::string side_mark(const std::vector<RunView>& views, std::size_t run) {
  if (views.size() < 2) return "";
  return fmt::format("<span class=\"side-mark{}\">{}</span>", run == 0 ? "" : " outlined",
                     html_text(views[run].run->label));
}

std::string caveat_html(const std::string& caveat) {
  if (caveat.empty()) return "";
  return "<p class=\"shortfall\" role=\"note\">" + html_text(caveat) + "</p>";
}

std::string badges_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  const auto kind = [&](std::size_t i) { return views[i].run->trace->origin().kind; };
  bool same = true;
  for (std::size_t i = 1; i < views.size(); ++i) same &= kind(i) == kind(0);
  for (std::size_t i = 0; i < views.size(); ++i)
    if (i == 0 || !same) html += badge_html(kind(i), speech, same ? "" : views[i].run->label);
  return html;
}

std::string summary_html(const ReportInput& input, const std::vector<RunView>& views) {
  const Speech& speech = input.speech;
  std::string html = "<section class=\"panel summary\" aria-label=\"" +
                     html_text(speech.say("Summary")) + "\">\n<div>";
  if (views.size() == 2) {
    const std::string words = headline(*views[0].run, *views[1].run, speech);
    if (!words.empty()) html += "<p class=\"headline\">" + html_text(words) + "</p>";
  }
  html += "<div class=\"figures\">";
  for (std::size_t i = 0; i < views.size(); ++i) html += figure_html(speech, views, i);
  if (views.empty())
    html += "<p class=\"muted\">" + html_text(speech.say("This report has no runs.")) + "</p>";
  html += "</div>" + shortfalls_html(views, speech) + "</div>\n<div>" + facts_html(input, views) +
          "</div>";
  if (views.size() == 1) html += asked_html(*views[0].run, speech);
  html += paths_html(views, speech);
  if (!input.paragraphs.empty()) html += "\n<div class=\"prose\">" + caveat_html(input.caveat);
  for (const std::string& paragraph : input.paragraphs)
    html += "<p class=\"foreign\">" + html_prose(paragraph) + "</p>";
  if (!input.paragraphs.empty()) html += "</div>";
  return html + "\n</section>";
}

std::vector<Colour> colours_of(const std::vector<RunView>& views) {
  std::array<bool, trace::kCategoryCount> used{};
  bool idle = false;
  for (const RunView& view : views) {
    const auto& spans = view.run->trace->spans();
    for (std::uint32_t i = 0; i < view.index.span_count; ++i)
      used[static_cast<std::size_t>(spans[i].category)] = true;
    idle |= !view.gaps.empty();
  }
  std::vector<Colour> colours;
  for (std::size_t i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<trace::Category>(i);
    const std::string_view name = trace::name_of(category);
    if (used[i]) colours.push_back({name, meaning_of(category), slug(name)});
  }
  if (idle) colours.push_back({"GPU idle", "a gap in which nothing runs on the stream", "idle"});
  return colours;
}

std::string legend_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (const Colour& one : colours_of(views))
    html +=
        fmt::format("<li title=\"{}\"><i class=\"swatch s-{}\"></i>{}</li>",
                    html_text(speech.say(one.meaning)), one.kind, html_text(speech.say(one.name)));
  if (html.empty()) return "";
  return "<ul class=\"legend\" aria-label=\"" + html_text(speech.say("Colours")) + "\">" + html +
         "</ul>";
}

std::string differs_html(const Speech& speech) {
  return "<span class=\"hidden-text\"> (" + html_text(speech.say("differs")) + ")</span>";
}

std::string footer_html(const ReportInput& input, const std::vector<RunView>& views) {
  const std::string version = input.version.empty() ? "" : " " + input.version;
  std::string html =
      "<p>" + html_text(told(input.speech, "Written by {}.", "Trainscope" + version));
  std::vector<trace::OriginKind> said;
  for (const RunView& view : views) {
    const trace::OriginKind kind = view.run->trace->origin().kind;
    if (std::find(said.begin(), said.end(), kind) != said.end()) continue;
    said.push_back(kind);
    html +=
        fmt::format(" {}: {}.", trace::badge(kind), html_text(input.speech.say(meaning_of(kind))));
  }
  return html + "</p>";
}

}  // namespace trainscope::report
