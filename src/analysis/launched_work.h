// When a GPU was done with what its host had launched by some time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

// Of several ranks the one that has the marks: others may be far ahead of it, or behind.
class LaunchedWork {
 public:
  LaunchedWork(const trace::Trace& trace, std::int32_t rank);

  // `time`, or the end of the work launched before it if that is later.
  Nanos done_after(Nanos time) const;

  // The beginning of the first work launched at `time` or later; past all times where there is
  // none.
  Nanos begins_after(Nanos time) const;

  // Work launched before a profiler began to record, so that the trace lacks the call: of its
  // stream it begins before all work that has one. What is of a name that is launched without a
  // call later, too, before the last work that has one, is none: its calls are of a kind that was
  // not recorded. It was launched before all times of the trace.
  const std::vector<trace::SpanId>& earlier() const { return earlier_; }

 private:
  struct Launched {
    Nanos call = 0;
    Nanos end = 0;    // of it and all before it
    Nanos start = 0;  // of it and all after it
  };
  void add_earlier(const trace::Trace& trace, const std::vector<trace::SpanId>& without_call);

  std::vector<Launched> launched_;    // by the call
  std::vector<Nanos> first_of_lane_;  // the beginning of the first work with a call
  std::vector<trace::SpanId> earlier_;
};

}  // namespace trainscope::analysis
