// What a span's cause is to it: what let it begin, or what it waited for until it ended.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace trainscope::trace {

// Of a call or a wait in which a thread or a rank waits, the cause decides when it ends, and not
// when it begins: the thread's own order does that.
bool is_awaited(const Trace& trace, const Span& span);

// "waited for", "began after", "began once it had" or "slowed by": what stands before cause_of().
std::string_view relation_to_cause(const Trace& trace, const Span& span);

// "device work". Room that a held launch waits for is that of the launch queue; a thread for which
// cores are scarce begins at once, and takes longer.
inline constexpr std::string_view kQueueRoom = "room in the launch queue";
inline constexpr std::string_view kSharedCore = "other threads on its core";
std::string_view cause_of(const Span& span);

// The span to name beside cause_of(), kNone where there is none: of a thread that shares its core
// only what it did itself before is known, not the others.
SpanId named_cause(const Trace& trace, const Span& span);

}  // namespace trainscope::trace
