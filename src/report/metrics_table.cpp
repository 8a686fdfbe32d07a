// The metric table and the waterfall under the timelines.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/causes/part_category.h"
#include "analysis/runs/level.h"
#include "base/ratio.h"
#include "base/units.h"
#include "report/beyond_steps.h"
#include "report/chart.h"
#include "report/comparison.h"
#include "report/escape.h"
#include "report/sections.h"
#include "report/summing_times.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

using analysis::Metric;

struct MetricRow {
  const Metric* metric = nullptr;
  std::vector<std::optional<double>> values;  // by run; nothing where it does not apply
};

bool is_zero(const MetricRow& row) {
  return std::all_of(row.values.begin(), row.values.end(),
                     [](const auto& value) { return value && *value == 0; });
}

// Paper has room for what it is about.
bool is_left_out(const ReportInput& input, const Metric& metric) {
  return !input.rest_told_by.empty() && std::ranges::count(input.first_metrics, metric.name) == 0;
}

std::vector<MetricRow> rows_of(const ReportInput& input, const std::vector<RunView>& views) {
  std::vector<MetricRow> rows;
  for (const Metric& metric : analysis::metrics()) {
    if (is_left_out(input, metric)) continue;
    MetricRow row{&metric, {}};
    bool any = false;
    for (const RunView& view : views) {
      auto value = analysis::value_of(view.run->metrics, metric.name);
      if (value && !std::isfinite(*value)) value.reset();
      any |= value.has_value();
      row.values.push_back(value);
    }
    if (any) rows.push_back(std::move(row));
  }
  const auto place = [&](const MetricRow& row) {
    return std::find(input.first_metrics.begin(), input.first_metrics.end(), row.metric->name) -
           input.first_metrics.begin();
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return rows;
}

std::string value_html(const RunView& view, const Metric& metric,
                       const std::optional<double>& value, const Speech& speech) {
  if (!value)
    return "<td class=\"number none\" title=\"" + html_text(speech.say("does not apply")) +
           "\">-</td>";
  return "<td class=\"number\">" + html_text(speech.number(shown(*view.run, metric, *value))) +
         "</td>";
}

// None of what a run did up to where it ended.
std::string ratio_html(const MetricRow& row, const std::vector<RunView>& views,
                       const Speech& speech) {
  const auto &a = row.values[0], &b = row.values[1];
  if (!a || !b || *a == 0 || !has_whole_times(*views[0].run, *views[1].run))
    return "<td class=\"number none\">-</td>";
  return "<td class=\"number muted\">" + speech.number(format_ratio(*b / *a)) + "</td>";
}

// A solid, B outlined; as long as the larger.
std::string bars_html(const MetricRow& row) {
  double most = 0;
  for (const auto& value : row.values) most = std::max(most, value ? std::abs(*value) : 0.0);
  std::string html = "<td class=\"bars\" aria-hidden=\"true\">";
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const double share = most > 0 ? std::abs(row.values[i].value_or(0)) / most : 0;
    html += fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\"></i>", i == 0 ? "solid" : "open",
                        100 * share);
  }
  return html + "</td>";
}

std::string table_head(const std::vector<RunView>& views, const Speech& speech) {
  std::string html = "<thead><tr><th scope=\"col\">" + html_text(speech.say("metric")) + "</th>";
  for (const RunView& view : views)
    html += "<th scope=\"col\" class=\"number\">" +
            html_text(views.size() > 1 ? view.run->label : speech.say("value")) + "</th>";
  if (views.size() == 2)
    html += fmt::format(
        "<th scope=\"col\" class=\"number\">{} / {}</th>"
        "<td class=\"bars\"></td>",
        html_text(views[1].run->label), html_text(views[0].run->label));
  return html + "</tr></thead>";
}

std::string metrics_html(const std::vector<MetricRow>& rows, const std::vector<RunView>& views,
                         const Speech& speech) {
  std::string html = "<table class=\"metrics\">" + table_head(views, speech) + "<tbody>\n";
  std::string zeros;
  for (const MetricRow& row : rows) {
    if (is_zero(row)) {
      zeros += (zeros.empty() ? "" : " \u00B7 ") + html_text(speech.say(row.metric->label));
      continue;
    }
    html += fmt::format("<tr><th scope=\"row\" title=\"{}\">{}</th>",
                        html_text(speech.say(row.metric->help)),
                        html_text(speech.say(row.metric->label)));
    for (std::size_t i = 0; i < views.size(); ++i)
      html += value_html(views[i], *row.metric, row.values[i], speech);
    if (views.size() == 2) html += ratio_html(row, views, speech) + bars_html(row);
    html += "</tr>\n";
  }
  html += "</tbody></table>";
  if (!zeros.empty())
    html += "<p class=\"muted small\">" + html_text(speech.say("Zero throughout:")) + " " + zeros +
            "</p>";
  return html;
}

// Which steps figures in brackets are of, where there are some.
std::string brackets_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (const RunView& view : views) {
    if (!view.run->ending) continue;
    if (html.empty()) html = html_text(speech.say(kInBrackets));
    if (analysis::is_of_warmup(*view.run))
      html += " " + html_text(told(speech, "Of {} they are of step {}, warm-up.", view.run->label,
                                   view.run->facts.measured.first_step));
  }
  return html.empty() ? "" : "<p class=\"muted small\">" + html + "</p>";
}

std::string rest_html(const ReportInput& input) {
  if (input.rest_told_by.empty()) return "";
  const std::string words = html_text(input.speech.say(
      "These are the metrics that the lesson names. {} prints all of them, and the "
      "window has them under Compare."));
  return "<p class=\"muted small\">" +
         fmt::format(fmt::runtime(words), "<code>" + html_text(input.rest_told_by) + "</code>") +
         "</p>";
}

// ---- The waterfall
// -------------------------------------------------------------------------------

struct Step {
  std::string name;
  std::string value;
  std::string kind;  // of the bar: a class of the style sheet
  double from = 0;
  double to = 0;
};

std::string step_html(const Step& step, double scale) {
  const double left = 100 * std::min(step.from, step.to) / scale;
  const double width = 100 * std::abs(step.to - step.from) / scale;
  return fmt::format(
      "<li><span class=\"name\">{}</span><span class=\"track\" aria-hidden=\"true\">"
      "<i class=\"{}\" style=\"left:{:.3f}%;width:{:.3f}%\"></i>"
      "<b style=\"left:{:.3f}%\"></b></span><span class=\"value\">{}</span></li>\n",
      step.name, step.kind, left, width, 100 * step.to / scale, html_text(step.value));
}

std::string steps_html(const std::vector<Step>& steps) {
  double scale = 1;
  for (const Step& step : steps) scale = std::max({scale, step.from, step.to});
  std::string html = "<ol class=\"waterfall\">\n";
  for (const Step& step : steps) html += step_html(step, scale);
  return html + "</ol>";
}

std::string part_class(analysis::Part part) {
  return "p-" + slug(trace::name_of(analysis::category_of(part)));
}

// With a minus sign, not a hyphen.
std::string typeset(std::string time) {
  return time.starts_with('-') ? "\u2212" + time.substr(1) : time;
}

std::string paragraph_html(const std::string& words) {
  return "<p class=\"muted\">" + html_text(words) + "</p>";
}

// From A's time to B's, part by part.
std::string waterfall_html(const std::vector<RunView>& views, const Comparison& comparison,
                           const Speech& speech) {
  const PrintedSum sum = printed_sum(comparison.time_a, comparison.time_b, comparison.changes);
  std::vector<Step> steps = {
      {side_mark(views, 0), speech.number(sum.from), "total", 0, comparison.time_a}};
  for (const PrintedStep& step : sum.steps)
    steps.push_back({html_text(speech.say(name_of(step))), speech.number(typeset(step.time)),
                     part_class(step.change.part), step.from, step.to});
  steps.push_back({side_mark(views, 1), speech.number(sum.to), "total open", 0, comparison.time_b});
  return steps_html(steps);
}

std::string difference_html(const std::vector<RunView>& views, const Speech& speech) {
  const Comparison comparison = compare_times(*views[0].run, *views[1].run);
  const double difference = std::abs(comparison.time_b - comparison.time_a);
  const bool a_step = comparison.steps == Steps::kBoth;
  if (!comparison.whole)
    return paragraph_html(speech.say(
        "A run ended before its program did: its time is of a part, and has no difference to the "
        "other's."));
  if (comparison.steps == Steps::kOne)
    return paragraph_html(
        speech.say("Only one of the two has step marks, so their times are not of the same thing "
                   "and have no difference."));
  const std::string where = speech.say(a_step ? "Where the {} a step went" : "Where the {} went");
  const std::string heading =
      are_alike(comparison.time_a, comparison.time_b)
          ? alike_heading(*views[0].run, *views[1].run, speech)
          : fmt::format(fmt::runtime(where), speech.number(format_nanos(difference)));
  const std::string head = "<h3>" + html_text(heading) + "</h3>\n";
  if (!is_worth_explaining(comparison))
    return head + remark_html(nothing_to_explain(*views[0].run, *views[1].run, speech));
  return head + waterfall_html(views, comparison, speech) +
         remark_html(speech.say("The parts sum to the difference."));
}

// One run: what its time consists of.
std::string partition_html(const RunView& view, const Speech& speech) {
  const analysis::Measured& measured = view.run->facts.measured;
  std::vector<Step> steps;
  double at = 0;
  for (std::size_t i = 0; i < analysis::kPartCount; ++i) {
    const auto part = static_cast<analysis::Part>(i);
    const double time = static_cast<double>(view.run->facts.partition[part]) / measured.per();
    if (time == 0) continue;
    steps.push_back({html_text(speech.say(analysis::name_of(part))), time_words(speech, time),
                     part_class(part), at, at + time});
    at += time;
  }
  const char* where = measured.steps > 0 ? "Where the {} a step went" : "Where the {} went";
  const std::string html =
      "<h3>" + html_text(told(speech, where, time_words(speech, at))) + "</h3>\n";
  if (steps.empty()) return html + paragraph_html(speech.say("There is nothing in this trace."));
  return html + steps_html(steps) +
         remark_html(speech.say("Each moment belongs to one part; they sum to the whole."));
}

}  // namespace

std::string compare_html(const ReportInput& input, const std::vector<RunView>& views) {
  if (views.empty()) return "";
  const std::vector<MetricRow> rows = rows_of(input, views);
  std::string html =
      "<section class=\"panel compare\" aria-labelledby=\"compare-title\">\n<div class=\"head\">"
      "<h2 id=\"compare-title\">" +
      html_text(input.speech.say(views.size() > 1 ? "Compare" : "Metrics")) + "</h2>";
  if (views.size() == 2)
    html += "<span class=\"aside\">" +
            html_text(headline(*views[0].run, *views[1].run, input.speech)) + "</span>";
  html += "</div>\n<div class=\"columns\"><div>";
  html += rows.empty() ? paragraph_html(input.speech.say("No metric applies."))
                       : metrics_html(rows, views, input.speech);
  html += brackets_html(views, input.speech);
  html += rest_html(input);
  html += "</div>\n<div>";
  if (views.size() == 2) {
    const std::string close = closeness(*views[0].run, *views[1].run, input.speech);
    if (!close.empty())
      html +=
          paragraph_html(headline(*views[0].run, *views[1].run, input.speech) + ": " + close + ".");
    html += difference_html(views, input.speech);
  }
  if (views.size() != 2)
    for (const RunView& view : views) html += partition_html(view, input.speech);
  return html + "</div></div>\n" + ranks_html(views, input.speech) +
         operations_html(views, input.speech) + "</section>";
}

}  // namespace trainscope::report
