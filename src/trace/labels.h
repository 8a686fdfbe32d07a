// What spans are called where there is little room: in the bars of a timeline.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace trainscope::trace {

// "gemm" of "void ns::gemm<float>(int)": without namespaces, template and call arguments; the name
// itself where nothing can be left out.
std::string short_name(std::string_view name);

// What stands in a span's bar: a copy's bytes, what holds a host thread, else the span's name.
std::string bar_label(const Trace& trace, const Span& span);

// What is left of that in still less room: "waits" of "waits for the stream", "MemcpyAsync" of
// "cudaMemcpyAsync"; empty where nothing may be left out.
std::string brief_label(const Trace& trace, const Span& span);

}  // namespace trainscope::trace
