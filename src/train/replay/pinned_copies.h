// How long copies out of pageable memory would take out of pinned memory.
#pragma once

#include "program/config.h"
#include "trace/trace.h"

namespace trainscope::train {

// At the rate of the trace's own copies to a GPU from pinned memory; where it has no large ones, at
// that of a link (recorded_link.h), each after the latency of that.
class PinnedCopies {
 public:
  PinnedCopies(const program::Config& config, const trace::Trace& trace);

  // No longer than it took; as long where its bytes are not known.
  Nanos time_of(const trace::Span& copy) const;

 private:
  const trace::Trace& trace_;
  double bytes_per_s_ = 0;
  Nanos latency_ = 0;
};

}  // namespace trainscope::train
