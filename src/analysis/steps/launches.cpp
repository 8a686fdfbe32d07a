#include "analysis/steps/launches.h"

#include <algorithm>
#include <limits>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/lane_kinds.h"

namespace trainscope::analysis {

std::optional<double> mean_queue_depth(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const Interval window = measured.window;
  ByCorrelation<Nanos> call_ends(trace, std::numeric_limits<Nanos>::min());
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (is_joined_call(span)) call_ends.add(span.correlation, span.end());
  });
  const std::vector<trace::LaneKind> kinds = lane_kinds(trace);
  bool joined = false;
  double waited = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (!trace::is_gpu_work(span.category) || kinds[span.lane] != trace::LaneKind::kStream) return;
    if (!measured.counts(trace.lanes()[span.lane])) return;
    const Nanos* call_end = call_ends.find(span.correlation);
    if (!call_end) return;
    joined = true;
    const Nanos from = std::max(*call_end, window.start);
    const Nanos to = std::min(span.start, window.end);
    if (from < to) waited += static_cast<double>(to - from);
  });
  if (!joined || window.start >= window.end) return std::nullopt;
  return waited / static_cast<double>(window.end - window.start);
}

}  // namespace trainscope::analysis
