// What a trace says that happened, as commands that let it happen once more: work of a device, and
// calls and operators of the host. Each lasts as long as the trace says, whatever runs beside it;
// when each begins follows from what it waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace trainscope::program {

// A kernel, copy, memset or rank's part of a collective. Its name, category and details are those
// of the recording's span.
struct RecordedWork {
  trace::SpanId span = trace::kNone;
  std::uint32_t stream = 0;  // of the program
  Nanos duration = 0;
  Nanos latency = 0;  // from the beginning of its call to its own, where it waits for nothing else
  Nanos gap = 0;      // from the end of the work that it waited for to its beginning
  // Other streams' work that must be done before, among Recording::works. What has not been
  // enqueued when this is, is not waited for, as CUDA has it of an event that is not recorded.
  std::vector<std::uint32_t> after;
  // Of a collective of which several ranks are here: which of Recording::meetings it is a rank's
  // part of, and whether it goes on only once every rank has come: the root of a broadcast may not.
  // Its duration is without the wait for them.
  std::uint32_t meeting = kAlone;
  bool waits_for_ranks = true;

  static constexpr std::uint32_t kAlone = UINT32_MAX;
};

// A trace, and its work in the order in which calls enqueue it.
struct Recording {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<RecordedWork> works;
  std::vector<std::uint32_t> meetings;  // how many ranks take part in each
};

// Host time that leaves no span.
struct Elapse {
  Nanos duration = 0;
};

// An operator, or a mark of the user's, begins; the next EndMark of the thread ends it.
struct BeginRecorded {
  trace::SpanId span = trace::kNone;
};

// A call of the CUDA runtime, which may give the device work and may wait for it.
struct RecordedCall {
  enum class Wait : std::uint8_t {
    kNothing,
    kTurn,    // until all that its own last work waits for is done: pageable memory is staged then
    kWork,    // until one work is done
    kStream,  // until all work so far of a stream is
    kDevice,  // until all work so far of a device is
  };

  trace::SpanId span = trace::kNone;  // kNone: it leaves none
  Nanos before = 0;                   // that it takes before it waits
  Nanos after = 0;                    // and from the end of its wait to its return
  std::uint32_t first = 0;            // of Recording::works, what it enqueues
  std::uint32_t count = 0;
  bool staged = false;  // a copy's staging holds the host
  Wait wait = Wait::kNothing;
  std::uint32_t waits_for = 0;  // kWork: that; kStream: the stream; kDevice: the device
};

}  // namespace trainscope::program
