// A whole trace as bytes, and back, exactly: names, lanes, spans with their causes and lines,
// flows, samples, details, what the allocator did, how training went, what was dropped, the origin.
// The part of a saved run that is large.
//
// Numbers of the same kind stand together and as differences, so that they pack well. Reading
// checks every index, so that no view can be led outside the trace.
#pragma once

#include <memory>

#include "trace/bytes.h"
#include "trace/trace.h"

namespace trainscope::trace {

// Spans and samples begin between these, and no span is longer than a limit of its own: 73 years
// before time 0, twice as long after it. The difference of any two times then fits into Nanos. The
// reader of Chrome traces keeps to the same.
inline constexpr Nanos kEarliest = -(Nanos{1} << 61);
inline constexpr Nanos kLatest = Nanos{1} << 62;
inline constexpr Nanos kLongest = Nanos{1} << 61;

// Of a trace that is no longer written to. Same trace, same bytes.
void save_trace(const Trace& trace, ByteWriter& out);

// Throws InputError when the bytes are damaged.
std::unique_ptr<Trace> load_trace(ByteReader& in);

}  // namespace trainscope::trace
