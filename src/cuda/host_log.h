// What one host thread of a run leaves: its spans and the calls that put work on the device. Each
// thread writes its own; they are put together once the threads have ended.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/activity.h"
#include "program/program.h"
#include "sim/collectives/chunk_schedule.h"
#include "trace/trace.h"

namespace trainscope::cuda {

struct HostSpan {
  Nanos start = 0;
  Nanos end = 0;
  const char* word = "";                    // what it is called
  program::Index name = program::kNoIndex;  // of Program::names, in place of the word
  trace::Category category = trace::Category::kHostApi;
  std::uint16_t line = 0;
  CallId call = 0;  // that put work on the device; 0: none
  trace::Cause cause = trace::Cause::kProgram;
  bool waits = false;   // for the device: for an event, a stream, or all of them
  bool drains = false;  // it returns when all is done that the stream, or every one, was given
  program::Index stream = program::kNoIndex;
};

// A call that put work on the device.
struct Call {
  CallId id = 0;
  std::uint16_t line = 0;
  program::Phase phase = program::Phase::kNone;
  program::Index stream = 0;
  const program::Operation* operation = nullptr;  // of a kernel
  const program::Copy* copy = nullptr;
  // Of a collective: what a rank called, and one send of a chunk that it got, or a copy between its
  // buffers and where they lie in one piece.
  const program::Collective* collective = nullptr;
  CallId part_of = 0;  // the rank's call that this is a part of; 0: it is one
  const sim::ChunkSend* send = nullptr;
  bool is_hidden = false;  // the executor's own, not the program's
  std::int64_t span = -1;  // of the thread's spans; negative: none
};

struct ThreadLog {
  std::vector<HostSpan> spans;
  std::vector<HostSpan> marks;
  std::vector<Call> calls;
};

}  // namespace trainscope::cuda
