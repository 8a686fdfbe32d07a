#include "scenario/wrong_span.h"

#include <fmt/format.h>

#include <string_view>

#include "scenario/progress.h"

namespace trainscope::scenario {
namespace {

// "load batch " of "load batch 8"; empty where no number ends it.
std::string_view before_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == name.npos || last + 1 == name.size() ? std::string_view()
                                                      : name.substr(0, last + 1);
}

}  // namespace

std::string wrong_span(const Lesson& lesson, const Focus& asked, const analysis::Run& run,
                       trace::SpanId chosen) {
  const trace::Trace& trace = *run.trace;
  const trace::Span& span = trace.spans()[chosen];
  const std::string_view name = trace.name(span);
  const int line = line_of(asked, run).value_or(-1);
  const bool lane = trace.lanes()[span.lane].name == asked.lane;
  const bool caused = line == 0 || span.line == line, called = name.starts_with(asked.span);
  if (run.label != asked.run)
    return fmt::format(
        fmt::runtime(lesson.say(!lane              ? "{} is not the side that is meant: look in {}."
                                : caused && called ? "The right span, but of {}: look for it in {}."
                                                   : "The right lane, but of {}: look in {}.")),
        run.label, asked.run);
  if (!lane) return lesson.say("The right side, but another lane.");
  if (!caused) return lesson.say("The right lane, but another line of the listing caused it.");
  if (called && asked.which == WhichSpans::kLaunched)
    return lesson.say("It did not begin when it was launched: it waited for the work before it.");
  if (called && asked.which == WhichSpans::kExposed)
    return lesson.say("The right kind of span, but the GPU computes beside it.");
  const std::string_view kind = before_number(asked.span);
  if (!kind.empty() && name.starts_with(kind))
    return lesson.say("The right lane and the right kind of span, but another one of them.");
  return lesson.say(line > 0 ? "The right lane and the right line, but another span of it."
                             : "The right lane, but another kind of span.");
}

}  // namespace trainscope::scenario
