// How far a simulated host thread has come.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/device.h"
#include "trace/trace.h"

namespace trainscope::sim {

// How far a staged copy has come; chunks are copied and transferred in order.
struct Staging {
  OpId op = kNoOp;
  std::int64_t chunks = 0;
  std::int64_t requested = 0;  // transfers asked for
  std::int64_t copied = 0;     // chunks copied by the host
  Nanos copy_begun = 0;
  Nanos held_since = 0;
  std::uint32_t correlation = 0;
  trace::SpanId last_copy = trace::kNone;
  bool copying = false;
};

struct Mark {
  trace::NameId name = 0;
  Nanos start = 0;
  std::uint16_t line = 0;
  trace::Category category = trace::Category::kAnnotation;
  trace::Cause cause = trace::Cause::kNothing;
  bool on_thread = false;  // on the lane of its thread, not on that of the marks
};

struct ThreadState {
  std::size_t next = 0;      // the command under way
  int stage = 0;             // of that command
  int operating = 0;         // how far the framework's own time of an operator has come
  bool scalar_read = false;  // the copy of a ReadScalar is made

  Nanos wake_at = -1;       // a timed wait: earlier wake-ups are not meant for it
  Nanos due = 0;            // when it would be over on a core of its own
  bool slowed = false;      // cores were scarce since the last span
  int rates_under_way = 0;  // shared rates that have not served this thread yet

  Nanos begun = 0;       // when the command began
  Nanos call_begun = 0;  // when its CUDA call began
  Nanos waits_since = -1;
  OpId waits_for = kNoOp;
  Nanos lock_since = -1;
  std::int64_t calls_left = 0;            // of a row of equal calls
  int giving_back = 0;                    // how far it is with what is cached
  std::int64_t item = -1;                 // what the last Pop took
  trace::SpanId producer = trace::kNone;  // of the item taken last
  trace::SpanId giver = trace::kNone;     // the same, until the next span of the thread
  trace::SpanId last_span = trace::kNone;
  trace::SpanId span_before = trace::kNone;  // the last one when the command began
  std::vector<Mark> marks;
  OpId first_recorded = kNoOp;  // that a recorded call has enqueued
  std::vector<OpId> awaited;    // by such a call, as that was when its wait began
  std::uint32_t correlation = 0;
  Staging staging;
};

}  // namespace trainscope::sim
