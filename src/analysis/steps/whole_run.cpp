#include "analysis/steps/whole_run.h"

#include <algorithm>

#include "base/time_ends.h"
#include "trace/beside.h"

namespace trainscope::analysis {

Interval whole_of(const trace::Trace& trace) {
  Interval run{kEndless, kBeforeAll}, all{kEndless, kBeforeAll};
  const auto widen = [](Interval& interval, const trace::Span& span) {
    interval.start = std::min(interval.start, span.start);
    interval.end = std::max(interval.end, span.end());
  };
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    widen(all, span);
    if (!trace::is_beside_the_run(trace.lanes()[span.lane], span)) widen(run, span);
  });
  if (run.start <= run.end) return run;
  return all.start <= all.end ? all : Interval{};
}

}  // namespace trainscope::analysis
