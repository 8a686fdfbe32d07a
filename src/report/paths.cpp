// Which steps a page's times are of, and what the critical paths are made of.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/causes/critical_path.h"
#include "analysis/runs/level.h"
#include "base/text.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"
#include "trace/short_name.h"

namespace trainscope::report {
namespace {

using analysis::CriticalPath;

std::string steps_words(const analysis::Run& run, const Speech& speech) {
  const analysis::Measured& measured = run.facts.measured;
  if (measured.steps == 0) return "";
  const int first = measured.first_step;
  if (analysis::is_of_warmup(run)) return told(speech, "Times are of step {}, the warm-up.", first);
  if (measured.steps == 1) return told(speech, "Times are of step {}.", first);
  return told(speech, "Times are the mean of {} steps, {} to {}.", measured.steps, first,
              first + measured.steps - 1);
}

// "gemm 12.1 ms, cudaLaunchKernel 3.1 ms": of a step.
std::string longest_words(const CriticalPath& path, const trace::Trace& trace,
                          const Speech& speech) {
  constexpr std::size_t kMost = 3;
  const std::vector<analysis::OnPath> longest = analysis::longest_on_path(path, trace, kMost);
  std::vector<std::string> names;
  for (const analysis::OnPath& one : longest) names.push_back(one.name);
  names = trace::distinct_names(names);
  std::string words;
  for (std::size_t i = 0; i < longest.size(); ++i)
    add_to_list(words, names[i] + " " +
                           time_words(speech, static_cast<double>(longest[i].time) / path.steps));
  return words;
}

std::string path_html(const analysis::Run& run, const Speech& speech) {
  const CriticalPath path = analysis::critical_path(run.facts.measured);
  const std::string shares = analysis::shares_in_words(path, speech);
  if (shares.empty()) return "";
  const std::string longest = longest_words(path, *run.trace, speech);
  std::string html = html_text(told(
      speech, path.is_inferred ? "Critical path (inferred): {}." : "Critical path: {}.", shares));
  if (!longest.empty()) html += " " + html_text(told(speech, "Longest on it: {}.", longest));
  return html;
}

}  // namespace

std::string paths_html(const std::vector<RunView>& views, const Speech& speech) {
  std::string html;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string steps = html_text(steps_words(*views[i].run, speech));
    const std::string path = path_html(*views[i].run, speech);
    if (steps.empty() && path.empty()) continue;
    html += "<p class=\"muted\">" + side_mark(views, i) + " " + steps +
            (steps.empty() || path.empty() ? "" : " ") + path + "</p>";
  }
  return html.empty() ? "" : "\n<div class=\"prose\">" + html + "</div>";
}

}  // namespace trainscope::report
