#include "scenario/named_span.h"

#include <fmt/format.h>

#include "analysis/step_mark.h"

namespace trainscope::scenario {
namespace {

std::string kind_of(const Focus& asked) {
  if (!asked.span.empty()) return asked.span;
  return asked.code.empty() ? "a span of line " + std::to_string(asked.line)
                            : "a span of " + asked.code;
}

// Of the mark that a time is behind: "4"; empty: there is none.
std::string step_at(const trace::Trace& trace, Nanos time) {
  const trace::Span* last = nullptr;
  for (trace::SpanId id = 0; id < trace.spans().size(); ++id) {
    const trace::Span& span = trace.spans()[id];
    if (span.start > time || (last && span.start < last->start)) continue;
    if (analysis::is_step_mark(trace, span)) last = &span;
  }
  return last ? std::string(trace.name(*last)).substr(trace::kStepMark.size()) : "";
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
