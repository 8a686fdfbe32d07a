// Which kernels were on a device when another one of another stream began.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

class WorksAtOnce {
 public:
  explicit WorksAtOnce(const trace::Trace& trace);

  // Of the kernels and collectives of a device that had begun before the span, on other streams,
  // and were there until it did, the one that began first; kNone: there was none. Logarithmic in
  // the device's kernels, and linear in those that began while that one was there.
  trace::SpanId first_beside(trace::SpanId span) const;

 private:
  // Of a device, by their start; with the latest end of it and of those before.
  struct Works {
    std::vector<trace::SpanId> spans;
    std::vector<Nanos> latest;
  };

  const trace::Trace& trace_;
  std::map<std::pair<std::int32_t, std::int32_t>, Works> devices_;  // by rank and device
};

}  // namespace trainscope::analysis
