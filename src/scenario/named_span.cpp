#include "scenario/named_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/steps/step_marks.h"

namespace trainscope::scenario {
namespace {

std::string kind_of(const Focus& asked) {
  if (!asked.span.empty()) return asked.span;
  return asked.code.empty() ? "a span of line " + std::to_string(asked.line)
                            : "a span of " + asked.code;
}

// Of the first rank's mark that a time is behind: "4"; empty: there is none.
std::string step_at(const trace::Trace& trace, Nanos time) {
  const analysis::RankMarks ranks = analysis::marks_by_rank(trace);
  if (ranks.empty()) return "";
  const std::vector<analysis::StepMark>& marks = ranks.begin()->second;
  const auto after = std::ranges::upper_bound(
      marks, time, {}, [](const analysis::StepMark& mark) { return mark.time.start; });
  if (after == marks.begin() || std::prev(after)->number < 0) return "";
  return std::to_string(std::prev(after)->number);
}

}  // namespace

std::string name_of(const Focus& asked) {
  return kind_of(asked) + " in " + asked.lane + " of " + asked.run;
}

std::string name_of(const ChosenSpan& chosen) {
  return chosen.name + " in " + chosen.lane + " of " + chosen.run;
}

bool is_called_alike(const Focus& asked, const ChosenSpan& chosen) {
  return chosen.run == asked.run && chosen.lane == asked.lane &&
         chosen.name.starts_with(asked.span);
}

std::string place_in_time(const trace::Trace& trace, Nanos time) {
  const std::string step = step_at(trace, time);
  // To the nanosecond, as traces have it: a rounded one could be the other's, too.
  return fmt::format("at {}.{:03} us", time / 1000, time % 1000) +
         (step.empty() ? "" : " in step " + step);
}

}  // namespace trainscope::scenario
