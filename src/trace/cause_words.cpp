#include "trace/cause_words.h"

namespace trainscope::trace {

bool is_awaited(const Trace& trace, const Span& span) {
  switch (span.cause) {
    case Cause::kNothing:
    case Cause::kProgram:
    case Cause::kCore:
      return false;
    default:
      return span.category == Category::kHeld || span.category == Category::kSync ||
             trace.lanes()[span.lane].kind == LaneKind::kHostThread;
  }
}

std::string_view relation_to_cause(const Trace& trace, const Span& span) {
  if (is_awaited(trace, span)) return "waited for";
  switch (span.cause) {
    case Cause::kCore:
      return "slowed by";
    case Cause::kRoom:
    case Cause::kEngine:
      return "began once it had";
    default:
      return "began after";
  }
}

std::string_view cause_of(const Span& span) {
  if (span.cause == Cause::kCore) return kSharedCore;
  const bool held = span.category == Category::kHeld && span.cause == Cause::kRoom;
  return held ? kQueueRoom : name_of(span.cause);
}

SpanId named_cause(const Trace& trace, const Span& span) {
  const bool named = span.cause != Cause::kCore && span.cause_span < trace.spans().size();
  return named ? span.cause_span : kNone;
}

}  // namespace trainscope::trace
