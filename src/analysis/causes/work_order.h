// What each piece of device work waited for last, and so what decided when it began.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/causes/works_at_once.h"
#include "analysis/steps/by_correlation.h"
#include "trace/trace.h"
#include "train/replay/host_tracks.h"

namespace trainscope::analysis {

// Of spans that are sorted by their end the last that ended after a time, and by another; kNone:
// none did.
trace::SpanId last_done(const trace::Trace& trace, const std::vector<trace::SpanId>& spans,
                        Nanos after, Nanos by);

struct Awaited {
  enum class As : std::uint8_t {
    kCall,    // the call that launched it
    kDone,    // work that had to be done before
    kRoom,    // work that held the SMs that it needed, until it began
    kUntold,  // the work before it; nobody knows what it waited for since
  };
  trace::SpanId span = trace::kNone;  // kNone: there is nothing before it
  As as = As::kDone;
};

class WorkOrder {
 public:
  // A simulated trace says what each span waited for. Of any other that is inferred as for its
  // replay: see train/replay/device_work.h. `tracks` are those of the trace.
  WorkOrder(const trace::Trace& trace, const std::vector<train::HostTrack>& tracks);

  // Of a kernel, copy, memset, collective, transfer of a copy engine, or copy into the staging
  // buffer.
  Awaited before(trace::SpanId work) const;

  // The span that is told of in the place of a copy on its stream: the last of its transfers, where
  // the trace has copy engines, that was done by then. Of all else itself.
  trace::SpanId transfer_of(trace::SpanId work, Nanos by) const;

  // The last copy into, or out of, the staging buffer for a call that was done between two times;
  // kNone: there is none.
  trace::SpanId staged_for(std::uint32_t correlation, Nanos after, Nanos by) const;
  // The same of the copy itself.
  trace::SpanId copied_for(std::uint32_t correlation, Nanos after, Nanos by) const;

  // Of a copy of pageable memory: the trace has it as one span with its staging, which sets its
  // pace. That of a run of our own has the staging, and transfers, apart.
  bool is_with_its_staging(trace::SpanId work) const;

  // How much of a collective, from its beginning, is at least a wait for ranks whose traces are not
  // here: see train/replay/waits_of_ranks.h. 0 of all else.
  Nanos wait_for_absent(trace::SpanId work) const;

  // Of the ranks of a collective, or the GPUs of one process, the part of the one that came last;
  // of all else, and where not all its ranks are here, itself.
  trace::SpanId last_to_come(trace::SpanId work) const;

 private:
  using ByCall = std::unordered_map<std::uint32_t, std::vector<trace::SpanId>>;

  void find_parts();
  void find_meetings();
  void infer(const std::vector<train::HostTrack>& tracks);
  Awaited before_staging(trace::SpanId staging) const;
  Awaited call_of(std::uint32_t correlation) const;

  const trace::Trace& trace_;
  bool is_inferred_ = false;
  ByCall transfers_, staged_, copied_;  // by correlation, as they end
  ByCorrelation<trace::SpanId> calls_;
  std::unordered_map<std::uint32_t, trace::SpanId>
      came_;  // collectives that did not wait, likewise
  std::unordered_map<trace::SpanId, trace::SpanId> last_;  // by part of a collective
  std::unordered_map<trace::SpanId, Awaited> inferred_;
  std::unordered_map<trace::SpanId, Nanos> absent_;  // waits for ranks that are not here
  WorksAtOnce at_once_;
};

}  // namespace trainscope::analysis
