// What host threads did, and what they waited for, told backwards from a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/causes/thread_history.h"
#include "analysis/causes/work_order.h"
#include "analysis/steps/intervals.h"
#include "train/replay/host_tracks.h"

namespace trainscope::analysis {

class HostOrder {
 public:
  // `tracks` are those of the trace.
  HostOrder(const trace::Trace& trace, const std::vector<train::HostTrack>& tracks,
            const WorkOrder& works);

  // What a thread did last before a time, and since when.
  struct Told {
    Nanos since = 0;
    trace::SpanId span = trace::kNone;  // kNone: what leaves no span
    bool is_wait = false;               // it waited, and what for is not told
    // What it waited for until `since`: work of a device, or another thread's span; kNone: nothing,
    // it did what stands before.
    trace::SpanId awaited = trace::kNone;
    trace::LaneId thread = trace::kNone;  // the thread that goes on before `since`
  };
  Told before(trace::LaneId thread, Nanos time) const;

  // The main thread of the first rank, by whose marks steps are told; kNone: there is none.
  trace::LaneId first_main() const { return main_.empty() ? trace::kNone : main_.begin()->second; }

 private:
  // While a thread waits for another one of its rank that no span tells of: autograd's.
  struct Burst {
    Interval time;
    trace::LaneId thread = trace::kNone;
  };
  // What a thread takes from another, and when it begins with that.
  struct Gift {
    Nanos taken = 0;
    trace::SpanId giver = trace::kNone;
  };

  void find_gifts();
  void find_bursts(const std::vector<train::HostTrack>& tracks);
  // The thread that has a rank's marks of steps, or the first of its threads.
  trace::LaneId main_of(std::int32_t rank) const;
  trace::SpanId rested_for(trace::LaneId thread, const Doing& doing, Nanos time) const;
  const Burst* burst_of(trace::LaneId thread, Nanos time) const;
  const Burst* burst_awaited(trace::LaneId main, const Doing& doing, Nanos time) const;
  bool waits(const Doing& doing, Nanos time) const;
  trace::SpanId awaited_by(const Doing& doing, Nanos time) const;
  trace::SpanId last_work(std::int32_t rank, Nanos after, Nanos by) const;

  const trace::Trace& trace_;
  const WorkOrder& works_;
  std::map<trace::LaneId, ThreadHistory> threads_;
  std::map<std::int32_t, trace::LaneId> main_;
  std::map<std::int32_t, std::vector<trace::SpanId>> works_of_;  // by rank, as they end
  std::map<trace::LaneId, std::vector<Gift>> gifts_;             // by thread, as they are taken
  std::map<trace::LaneId, std::vector<Burst>> waits_;            // by main thread, as they end
  std::map<trace::LaneId, std::vector<Burst>> bursts_;           // the same by the thread at work
};

}  // namespace trainscope::analysis
