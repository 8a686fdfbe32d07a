#include "analysis/caveats/step_caveat.h"

#include <fmt/format.h>

#include "analysis/steps/launched_work.h"
#include "analysis/steps/step_marks.h"

namespace trainscope::analysis {
namespace {

// Of the kernels launched before the recording, those that are not done as its first step begins.
std::size_t kernels_of_earlier_steps(const trace::Trace& trace) {
  const auto [marks, rank] = first_marks(marks_by_rank(trace));
  if (marks.empty()) return 0;
  const LaunchedWork launched(trace, {rank});
  std::size_t count = 0;
  for (const trace::SpanId id : launched.of(rank).earlier()) {
    const trace::Span& span = trace.spans()[id];
    const bool is_kernel =
        trace::is_kernel(span.category) || span.category == trace::Category::kCollective;
    if (is_kernel && span.end() > marks.front().start) ++count;
  }
  return count;
}

}  // namespace

std::string step_caveat(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  if (trace.origin().kind != trace::OriginKind::kImported || measured.steps == 0) return "";
  const std::size_t count = kernels_of_earlier_steps(trace);
  if (count == 1)
    return fmt::format(
        "{} kernel at its beginning was launched before it was recorded, and is of no step: the "
        "first is timed from its end",
        count);
  if (count > 1)
    return fmt::format(
        "{} kernels at its beginning were launched before it was recorded, and are of no step: the "
        "first is timed from their end",
        count);
  if (measured.first_step <= warmup_steps(trace, measured.program)) return "";
  return "The first step is left out: the GPU had nothing to do as it began, where at the others' "
         "beginnings it is still at work for the step before";
}

}  // namespace trainscope::analysis
