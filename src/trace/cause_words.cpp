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
  return is_awaited(trace, span) ? "waited for" : "began after";
}

std::string_view cause_of(const Span& span) {
  const bool held = span.category == Category::kHeld && span.cause == Cause::kRoom;
  return held ? kQueueRoom : name_of(span.cause);
}

}  // namespace trainscope::trace
