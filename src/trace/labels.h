// What spans are called where there is little room: in the bars of a timeline.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace trainscope::trace {

// What stands in a span's bar: a copy's bytes, what holds a host thread, how a collective is
// carried out, "all-reduce, ring, LL128", else the span's name.
std::string bar_label(const Trace& trace, const Span& span);

// What is left of that in still less room: "waits" of "waits for the stream", "MemcpyAsync" of
// "cudaMemcpyAsync", "all-reduce" of what is said of one, "conv 3x3" of a convolution, what a
// kernel of a template does; empty where nothing may be left out.
std::string brief_label(const Trace& trace, const Span& span);

// A wait that goes on after the trace's end: what of it is in the trace is a beginning.
inline constexpr std::string_view kEndlessWait = "waits for a rank that does not come";
bool has_no_end(const Trace& trace, const Span& span);

}  // namespace trainscope::trace
