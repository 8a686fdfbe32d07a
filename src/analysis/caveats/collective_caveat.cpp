#include "analysis/caveats/collective_caveat.h"

#include <fmt/format.h>

#include "trace/same_collectives.h"

namespace trainscope::analysis {

std::string collective_caveat(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  if (trace.origin().kind != trace::OriginKind::kImported) return "";
  int count = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category != trace::Category::kCollective ||
        !measured.counts(trace.lanes()[span.lane]) || span.end() <= measured.window.start ||
        span.end() > measured.window.end)
      return;
    const trace::CollectiveDetail* collective = trace::collective_of(trace, span);
    if (collective && !is_told(*collective)) ++count;
  });
  if (count == 0) return "";
  return fmt::format(
      "Of {} of the measured collectives it is not known what they move: bytes and bandwidths are "
      "those of the others",
      count);
}

}  // namespace trainscope::analysis
