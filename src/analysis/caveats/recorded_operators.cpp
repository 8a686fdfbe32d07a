#include "analysis/caveats/recorded_operators.h"

#include <vector>

#include "analysis/steps/lane_kinds.h"

namespace trainscope::analysis {

bool has_operators(const trace::Trace& trace) {
  bool found = false;
  const std::vector<trace::LaneKind> kinds = lane_kinds(trace);
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    found |= span.category == trace::Category::kHostWork && is_on_host(kinds[span.lane]);
  });
  return found;
}

}  // namespace trainscope::analysis
