// What each side is doing at one moment, in a few words, and where the next moment is that anything
// begins or ends. Pure.
#pragma once

#include <string>

#include "ui/app/workspace/indexed_trace.h"

namespace trainscope::ui {

// "step 2, copy", "host held: staging", "done".
std::string state_at(const IndexedTrace& view, Nanos time);

// Whether the trace has marks of training steps.
bool has_steps(const IndexedTrace& view);

// The time in `to` at which it is as far in the same step as `from` is at `time`: before the first
// step, in step k, or after the last. The end of `to` where it has no such step.
Nanos same_step(const IndexedTrace& from, const IndexedTrace& to, Nanos time);

// The nearest start or end of a span after (before) the time; the time itself where there is none.
Nanos next_event(const IndexedTrace& view, Nanos time);
Nanos previous_event(const IndexedTrace& view, Nanos time);

}  // namespace trainscope::ui
