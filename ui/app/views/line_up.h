// Where two runs meet on one axis: how far B is shifted so that a moment of it stands at the same
// moment of A. Pure.
#pragma once

#include <optional>

#include "analysis/runs/run.h"
#include "ui/app/workspace/indexed_trace.h"

namespace trainscope::ui {

enum class LineUp : std::uint8_t {
  kStart,        // both from their own time 0
  kFirstKernel,  // the first kernel of each
  kStep,         // the step that the playhead is in, of A, where it begins
};

// Nothing where one of the two has no such moment. `playhead`: A's own time.
std::optional<Nanos> offset_to_meet(LineUp how, const IndexedTrace& a, const IndexedTrace& b,
                                    Nanos playhead);

// The same for a span of one run and the one of that name, counted from the start of its lane, in
// the other. Nothing where the other has none.
std::optional<Nanos> offset_to_meet(const IndexedTrace& a, const IndexedTrace& b, bool span_is_of_b,
                                    trace::SpanId span);

// The same for what a span of one run is part of, so that it stands below its like in the same step
// of the other: the nth pass of its line of the listing, else of its phase, else the step itself.
// Nothing where one of the two has no such step.
std::optional<Nanos> offset_to_compare(const analysis::Run& a, const analysis::Run& b,
                                       bool span_is_of_b, trace::SpanId span);

// The same, of what is shown with so much time before and after it: where the other run then has no
// span of that name and lane to compare it with, the two that bear it meet instead, counted from
// the start.
std::optional<Nanos> offset_to_compare(const analysis::Run& a, const analysis::Run& b,
                                       bool span_is_of_b, trace::SpanId span, Nanos around);

}  // namespace trainscope::ui
