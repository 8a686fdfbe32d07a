#include "analysis/causes/thread_history.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace trainscope::analysis {

using trace::Span;
using trace::SpanId;

ThreadHistory::ThreadHistory(const trace::Trace& trace, const std::vector<SpanId>& spans) {
  std::vector<SpanId> order;
  for (const SpanId id : spans)
    if (trace.spans()[id].category != trace::Category::kAnnotation) order.push_back(id);
  std::ranges::sort(order, {}, [&](SpanId id) {
    const Span& span = trace.spans()[id];
    return std::tuple(span.start, -span.duration, id);
  });
  std::vector<SpanId> open;  // the innermost last
  Nanos now = std::numeric_limits<Nanos>::min();
  const auto close_until = [&](Nanos time) {
    while (!open.empty() && trace.spans()[open.back()].end() <= time) {
      const Nanos end = trace.spans()[open.back()].end();
      if (end > now) stretches_.push_back({now, end, open.back()});
      now = std::max(now, end);
      open.pop_back();
    }
  };
  for (const SpanId id : order) {
    const Nanos start = trace.spans()[id].start;
    close_until(start);
    if (!open.empty() && start > now) stretches_.push_back({now, start, open.back()});
    now = start;
    open.push_back(id);
  }
  close_until(std::numeric_limits<Nanos>::max());
}

Doing ThreadHistory::before(Nanos time) const {
  const auto after = std::ranges::lower_bound(stretches_, time, {}, &Doing::end);
  if (after != stretches_.end() && after->start < time) return *after;
  Doing none{std::numeric_limits<Nanos>::min(), std::numeric_limits<Nanos>::max(), trace::kNone};
  if (after != stretches_.begin()) none.start = std::prev(after)->end;
  if (after != stretches_.end()) none.end = after->start;
  return none;
}

}  // namespace trainscope::analysis
