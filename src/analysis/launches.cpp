#include "analysis/launches.h"

#include <algorithm>
#include <unordered_map>

namespace trainscope::analysis {

std::optional<double> mean_queue_depth(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const Interval window = measured.window;
  std::unordered_map<std::uint32_t, Nanos> call_ends;  // by correlation
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const trace::Span& span = trace.spans()[i];
    if (span.correlation != 0 && span.category == trace::Category::kHostApi)
      call_ends.try_emplace(span.correlation, span.end());
  }
  bool joined = false;
  double waited = 0;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const trace::Span& span = trace.spans()[i];
    if (!trace::is_gpu_work(span.category) ||
        trace.lanes()[span.lane].kind != trace::LaneKind::kStream)
      continue;
    const auto call = call_ends.find(span.correlation);
    if (call == call_ends.end()) continue;
    joined = true;
    const Nanos from = std::max(call->second, window.start);
    const Nanos to = std::min(span.start, window.end);
    if (from < to) waited += static_cast<double>(to - from);
  }
  if (!joined || window.start >= window.end) return std::nullopt;
  return waited / static_cast<double>(window.end - window.start);
}

}  // namespace trainscope::analysis
