// When a stream, or a whole device, was free for a piece of work: what stood before it was done.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

class StreamOrder {
 public:
  enum class Of { kStream, kDevice };
  // Of the streams, or devices, that have spans of this category.
  StreamOrder(const trace::Trace& trace, trace::Category category, Of of);

  // The end of the last work there, other than that of `span`'s own call, that was done by `time`;
  // the earliest time there is where there was none.
  Nanos free_before(const trace::Span& span, Nanos time) const;

 private:
  struct End {
    Nanos time = 0;
    std::uint32_t correlation = 0;
  };
  std::int64_t place_of(trace::LaneId lane) const;

  const trace::Trace& trace_;
  Of of_;
  std::map<std::int64_t, std::vector<End>> ends_;  // by place, sorted by time
};

}  // namespace trainscope::analysis
