// The spans of a trace as bytes, and back, exactly. Part of trace_bytes.h.
#pragma once

#include "trace/bytes.h"
#include "trace/trace.h"

namespace trainscope::trace {

void put_spans(ByteWriter& out, const Trace& trace);
// Names, lanes and details are there already. Throws InputError when the bytes are damaged.
void take_spans(ByteReader& in, Trace& trace);

}  // namespace trainscope::trace
