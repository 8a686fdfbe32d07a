// What a host thread was doing at any time: of spans within spans the innermost.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

// A stretch of a thread in which it did one thing.
struct Doing {
  Nanos start = 0;
  Nanos end = 0;
  trace::SpanId span = trace::kNone;  // kNone: what leaves no span: Python, between two calls
};

class ThreadHistory {
 public:
  // `spans` are those of its lane. Marks of steps and of the user's are nothing that it does. Where
  // spans overlap without one holding the other, the later one has the time.
  ThreadHistory(const trace::Trace& trace, const std::vector<trace::SpanId>& spans);

  // The stretch that holds the time just before `time`: it begins before, and ends at or after it.
  Doing before(Nanos time) const;

 private:
  std::vector<Doing> stretches_;  // of spans, by time; between them the thread leaves none
};

}  // namespace trainscope::analysis
