// Where the bytes of a run's copies are at one time: loader, pageable memory, pinned memory, PCIe,
// device memory, in both directions; which host thread is held, and why a link rests.
//
// Everything follows from the spans of a trace: loads, pin copies, staging copies, transfers of the
// copy engines, calls. Inside a span bytes move evenly. Bytes are whole bytes, times nanoseconds of
// the trace, rates bytes per second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/steps/byte_series.h"
#include "machine/machine.h"
#include "program/program.h"
#include "trace/trace.h"

namespace trainscope::analysis {

enum class Way : std::uint8_t { kToDevice, kToHost };
inline constexpr std::size_t kWays = 2;

// One copy of the trace, from its call to its completion.
struct PathCopy {
  Way way = Way::kToDevice;
  std::int64_t bytes = 0;
  bool pageable = false;  // its host side is pageable memory: it goes through staging buffers
  bool whole = true;      // false: the trace ends before it does, and `bytes` is what it shows
  int step = -1;          // the training step that called for it; -1: there is at most one step
  int batch = -1;         // that it carries a part of: of several a step, the next; else the step
  int number = 1;         // of the copies of its way, from 1, by call
  Nanos called = 0;       // when its call begins; when the copy does, where no call is shown
  Nanos returned = 0;     // when its call ends
  Nanos complete = 0;     // the last byte is in place
  trace::LaneId thread = trace::kNone;
};

// A place where bytes lie.
struct PathPlace {
  bool used = false;         // bytes of this run pass it
  std::int64_t bytes = 0;    // in it now, to go on: arrived or called for, not yet gone
  std::int64_t room = 0;     // how many of those it can hold; 0: not bounded
  std::int64_t most = 0;     // the most of those at any time
  std::string holds;         // of them: "batch 3", "batches 3 to 5", "copy 2 of 8"
  std::int64_t arrived = 0;  // at the end of its path, since the trace began
  std::int64_t due = 0;      // all that will arrive
};

// One of the driver's pinned buffers in use.
struct PathChunk {
  std::uint32_t number = 0;  // of its copy's chunks, from 0
  std::int64_t bytes = 0;
  std::int64_t written = 0;  // into the buffer
  std::int64_t read = 0;     // out of it
};

// Why a link carries nothing.
enum class Rest : std::uint8_t {
  kBusy,     // it does carry
  kUnused,   // the run has no copy this way
  kDone,     // all copies this way are done
  kStaging,  // the next chunk is not staged yet
  kStream,   // earlier work of the copy's stream
  kEngine,   // the copy engine serves another copy
  kData,     // the host waits for a batch
  kHost,     // the host waits for the GPU
  kPinning,  // the host copies a batch into pinned memory
  kCall,     // the host has not called for it yet
};
std::string_view name_of(Rest rest);  // "the next chunk is not staged yet"

// One direction of PCIe.
struct PathLink {
  bool used = false;
  std::int64_t carried = 0;  // so far
  std::int64_t total = 0;    // of all copies this way
  double rate = 0;           // of the transfer under way, over its length; 0: none
  double peak = 0;           // the machine's; 0: unknown
  std::string moves;         // "batch 3", "copy 2 of 8"; empty: nothing
  std::int64_t moved = 0;    // of the transfer under way
  std::int64_t bytes = 0;    // of it in all
  Rest rest = Rest::kUnused;
  int done = 0;   // copies complete
  int count = 0;  // copies in all
};

struct PathLoad {
  std::string name;  // "load batch 3"
  double done = 0;   // 0..1
};

// A host thread that takes part.
struct PathThread {
  std::string name;     // "host main"
  bool held = false;    // it can do nothing else
  std::string doing;    // "held: staging", "pin batch"; empty: its own work
  std::string because;  // "12 MiB of 64 MiB staged", "until sgemm ends"
  Nanos since = 0;      // of what it does
  Nanos until = 0;
};

struct PathState {
  bool staging_shown = true;      // false: pageable copies, and no span of their staging
  std::vector<PathLoad> loading;  // batches under way from disk
  bool loads = false;             // the run has a loader
  PathPlace pageable;
  PathPlace staging;  // the driver's buffers, both ways
  PathPlace pinned;   // batches and tensors in page-locked memory
  PathPlace device;
  std::vector<PathChunk> chunks;
  std::array<PathLink, kWays> links;
  std::vector<PathThread> threads;  // the training threads first

  const PathLink& link(Way way) const { return links[static_cast<std::size_t>(way)]; }
};

class CopyPath {
 public:
  // `program` (bytes of pin copies) and `machine` (room, peak rates) may be null. Keeps a reference
  // to the trace; covers the spans that were there.
  CopyPath(const trace::Trace& trace, const program::Program* program,
           const machine::Machine* machine);

  bool empty() const { return copies_.empty(); }
  const std::vector<PathCopy>& copies() const { return copies_; }
  PathState at(Nanos time) const;

 private:
  friend class CopyPathBuilder;
  // The bytes of one way, by where they come from.
  struct Flows {
    ByteSeries called_pageable, called_pinned;  // at the call, where no loader brings them
    ByteSeries staged;                          // through the driver's buffers
    ByteSeries carried_staged, carried_pinned;  // over the link
    ByteSeries carried;                         // both
  };

  const Flows& flows(Way way) const { return flows_[static_cast<std::size_t>(way)]; }
  std::int64_t pageable_bytes(Nanos time) const;
  std::int64_t pinned_bytes(Nanos time) const;
  void find_most();
  PathPlace pageable_at(Nanos time) const;
  PathPlace staging_at(Nanos time) const;
  PathPlace pinned_at(Nanos time) const;
  PathPlace device_at(Nanos time) const;
  PathLink link_at(Way way, Nanos time) const;
  Rest rest_at(Way way, Nanos time) const;
  std::vector<PathChunk> chunks_at(Nanos time) const;
  std::vector<PathThread> threads_at(Nanos time) const;
  PathThread thread_at(trace::LaneId lane, const std::vector<std::uint32_t>& busy,
                       Nanos time) const;
  std::string because(const trace::Span& span, Nanos time) const;
  std::string words_for(const std::vector<std::uint32_t>& copies) const;
  std::optional<std::uint32_t> staged_copy_at(Nanos time) const;

  const trace::Trace* trace_;
  std::vector<PathCopy> copies_;
  std::array<Flows, kWays> flows_;
  std::array<int, kWays> counts_{};
  std::array<std::vector<Nanos>, kWays> completions_;  // sorted
  std::array<double, kWays> peaks_{};
  ByteSeries loaded_;              // batches, at the end of their load
  ByteSeries pinned_;              // by the pin thread or the loop
  Stays loads_;                    // span ids
  Stays busy_;                     // span ids of held, pin and load spans of threads
  Stays in_pageable_, in_pinned_;  // copies to the device
  Stays in_call_;                  // copies
  Stays in_staging_;               // indices of chunks_
  std::vector<ByteSeries::Piece> chunk_in_, chunk_out_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chunks_of_;  // of each copy: from, to
  std::vector<trace::LaneId> threads_;                              // lanes
  std::int64_t staging_room_ = 0;
  std::int64_t most_pageable_ = 0, most_pinned_ = 0;
  bool staging_shown_ = true;
  bool shared_engine_ = false;
};

}  // namespace trainscope::analysis
