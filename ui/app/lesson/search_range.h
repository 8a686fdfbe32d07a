// What is shown of a run to whom a lesson asks for a span: so much that its name can be read where
// that can be had, and others beside it among which it is to be found. Pure.
#pragma once

#include <optional>

#include "trace/trace.h"
#include "ui/timeline/refs.h"

namespace trainscope::ui {

// Nothing where the span can be seen in the whole, which is so long, or the trace has no steps.
std::optional<TimeRange> range_to_search(const trace::Trace& trace, trace::SpanId id, Nanos whole);

}  // namespace trainscope::ui
