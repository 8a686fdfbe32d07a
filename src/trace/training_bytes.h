// How training goes as bytes, and back, exactly: the rows of trace/training.h. Part of
// trace_bytes.h.
#pragma once

#include "trace/bytes.h"
#include "trace/trace.h"

namespace trainscope::trace {

void put_training(ByteWriter& out, const Trace& trace);
// Throws InputError when the bytes are damaged.
void take_training(ByteReader& in, Trace& trace);

}  // namespace trainscope::trace
