// What the host threads of a recorded trace did, one thing after another.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace trainscope::train {

struct HostEvent {
  enum class Kind : std::uint8_t { kBegin, kEnd, kCall };
  Kind kind = Kind::kBegin;
  bool in_loader = false;  // the time before it passes in `next` of a DataLoader
  bool is_held = false;    // of a call: what was in it held the host
  trace::SpanId span = trace::kNone;
  Nanos start = 0;
  Nanos end = 0;  // of a call; else its start
};

// A thread's operators, marks and calls. Begin and end nest; a call is a CUDA call with nothing in
// it, or one that gives the device work: what is in that is left out. Times never go back: a
// call ends where another begins that overlaps it without being in it, all else is stretched.
struct HostTrack {
  trace::LaneId lane = trace::kNone;
  int rank = 0;
  std::vector<HostEvent> events;
};

// By rank, and of each its main thread first: the one with the marks of steps, where there are any.
// Threads that did nothing are left out, and marks of steps that are not the thread's own: of a
// file whose rank has none they may be copies of another's.
std::vector<HostTrack> host_tracks(const trace::Trace& trace);

// The main thread waits while another one works: autograd's, in loss.backward(). The other begins
// once the main thread has come to the gap, which goes on once the other is done.
struct Handshake {
  std::size_t waiting = 0;  // track, of a main thread
  std::size_t before = 0;   // its event behind the gap; their count: none is
  std::size_t working = 0;  // track, of the same rank
  std::size_t first = 0;    // its events
  std::size_t last = 0;
};

// Between a rank's main thread and its others: each row of another's events that launches
// something, while the main thread neither begins nor ends anything. `launches`: by span, of calls.
// In the order of the main threads' gaps.
std::vector<Handshake> find_handshakes(const std::vector<HostTrack>& tracks,
                                       const std::vector<bool>& launches);

// A thread that gives the device work begins anew once the main thread lets it: a replica of
// nn.DataParallel, which rests while that waits for the device. The main thread need not wait for
// it in turn, and may do something else as it begins.
struct Start {
  std::size_t main = 0;     // track
  std::size_t after = 0;    // its event
  std::size_t working = 0;  // track, of the same rank
  std::size_t first = 0;    // its event
};

// Of a rank's threads that launch something, but the main one: each event outside of all operators
// before which the main thread did something after the thread's own last event.
std::vector<Start> find_starts(const std::vector<HostTrack>& tracks,
                               const std::vector<bool>& launches);

}  // namespace trainscope::train
