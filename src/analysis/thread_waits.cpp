#include "analysis/thread_waits.h"

#include <algorithm>

#include "train/replay/host_tracks.h"

namespace trainscope::analysis {
namespace {

bool is_host_thread(const trace::Trace& trace, trace::LaneId lane) {
  return trace.lanes()[lane].kind == trace::LaneKind::kHostThread;
}

std::vector<ThreadWait> told_waits(const trace::Trace& trace) {
  std::vector<ThreadWait> waits;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.cause != trace::Cause::kData || span.cause_span == trace::kNone) return;
    const trace::Span& awaited = trace.spans()[span.cause_span];
    if (span.category != trace::Category::kHostWork || awaited.lane == span.lane ||
        !is_host_thread(trace, span.lane) || !is_host_thread(trace, awaited.lane))
      return;
    const Nanos until = std::min(awaited.end(), span.end());
    if (until > span.start) waits.push_back({span.lane, {span.start, until}});
  });
  return waits;
}

std::vector<ThreadWait> inferred_waits(const trace::Trace& trace) {
  const std::vector<train::HostTrack> tracks = train::host_tracks(trace);
  std::vector<bool> launches(trace.spans().size());
  for (const train::HostTrack& track : tracks)
    for (const train::HostEvent& event : track.events)
      if (event.kind == train::HostEvent::Kind::kCall)
        launches[event.span] = trace.spans()[event.span].correlation != 0;
  std::vector<ThreadWait> waits;
  for (const train::Handshake& one : train::find_handshakes(tracks, launches)) {
    const std::vector<train::HostEvent>& events = tracks[one.working].events;
    waits.push_back(
        {tracks[one.waiting].lane,
         {events[one.first].start, std::max(events[one.last].start, events[one.last].end)}});
  }
  return waits;
}

}  // namespace

std::vector<ThreadWait> thread_waits(const trace::Trace& trace) {
  return trace.origin().kind == trace::OriginKind::kSimulated ? told_waits(trace)
                                                              : inferred_waits(trace);
}

}  // namespace trainscope::analysis
