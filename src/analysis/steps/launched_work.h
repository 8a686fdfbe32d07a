// When a GPU was done with what its host had launched by some time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// What one rank's host launched.
class RankWork {
 public:
  // `time`, or the end of the work launched before it if that is later.
  Nanos done_after(Nanos time) const;
  // From when the work before `time` is done until that of it is.
  Interval window_of(const Interval& time) const {
    return {done_after(time.start), done_after(time.end)};
  }

  // The beginning of the first work launched at `time` or later; past all times where there is
  // none.
  Nanos begins_after(Nanos time) const;

  // Work launched before a profiler began to record, so that the trace lacks the call: of its
  // stream it begins before all work that has one. What is of a name that is launched without a
  // call later, too, before the last work that has one, is none: its calls are of a kind that was
  // not recorded. It was launched before all times of the trace.
  const std::vector<trace::SpanId>& earlier() const { return earlier_; }

 private:
  friend class LaunchedWork;
  struct Launched {
    Nanos call = 0;
    Nanos end = 0;    // of it and all before it
    Nanos start = 0;  // of it and all after it
  };
  // `first_of_lane`: the beginning of the first work with a call, by lane.
  void add_earlier(const trace::Trace& trace, const std::vector<Nanos>& first_of_lane);
  void put_in_order();

  std::vector<Launched> launched_;      // by the call
  std::vector<trace::SpanId> earlier_;  // before add_earlier(): all without a call
};

// Of several ranks: each may be far ahead of another, or behind. A rank that is alone in its trace
// has launched all that there is.
class LaunchedWork {
 public:
  LaunchedWork(const trace::Trace& trace, const std::vector<std::int32_t>& ranks);

  // Of one of them.
  const RankWork& of(std::int32_t rank) const { return works_[places_.at(rank)]; }

 private:
  std::vector<std::size_t> places_of_lanes(const trace::Trace& trace) const;

  std::map<std::int32_t, std::size_t> places_;  // of ranks, in the list
  std::vector<RankWork> works_;
};

}  // namespace trainscope::analysis
