#include "analysis/causes/host_order.h"

#include <algorithm>
#include <limits>

#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/lane_kinds.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneId;
using trace::LaneKind;
using trace::Span;
using trace::SpanId;

}  // namespace

HostOrder::HostOrder(const trace::Trace& trace, const std::vector<train::HostTrack>& tracks,
                     const WorkOrder& works)
    : trace_(trace), works_(works) {
  std::map<LaneId, std::vector<SpanId>> spans;
  trace::for_each(trace.spans(), [&](const Span& span, SpanId id) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (is_on_host(lane.kind)) spans[span.lane].push_back(id);
    if (lane.kind == LaneKind::kStream && trace::is_gpu_work(span.category))
      works_of_[lane.rank].push_back(id);
  });
  for (const auto& [lane, ids] : spans) threads_.emplace(lane, ThreadHistory(trace, ids));
  for (auto& [rank, ids] : works_of_)
    std::ranges::stable_sort(ids, {}, [&](SpanId id) { return trace.spans()[id].end(); });
  for (const train::HostTrack& track : tracks) main_.try_emplace(track.rank, track.lane);
  for (const auto& [lane, history] : threads_)
    if (trace.lanes()[lane].kind == LaneKind::kHostThread)
      main_.try_emplace(trace.lanes()[lane].rank, lane);
  find_gifts();
  // The joints of a simulated trace are told; those of any other are inferred.
  if (trace.origin().kind != trace::OriginKind::kSimulated) find_bursts(tracks);
}

void HostOrder::find_gifts() {
  trace::for_each(trace_.flows(), [&](const trace::Flow& flow, std::uint32_t) {
    if (flow.kind != trace::FlowKind::kData) return;
    const Span& taken = trace_.spans()[flow.to];
    gifts_[taken.lane].push_back({taken.start, flow.from});
  });
  for (auto& [thread, gifts] : gifts_) std::ranges::stable_sort(gifts, {}, &Gift::taken);
}

// A thread that rests until another gives it something leaves no span; its next one is that with
// which it takes it.
SpanId HostOrder::rested_for(LaneId thread, const Doing& doing, Nanos time) const {
  const auto found = gifts_.find(thread);
  if (doing.span != trace::kNone || found == gifts_.end()) return trace::kNone;
  const auto next = std::ranges::lower_bound(found->second, time, {}, &Gift::taken);
  if (next == found->second.end()) return trace::kNone;
  const Nanos given = trace_.spans()[next->giver].end();
  return given > doing.start && given <= time ? next->giver : trace::kNone;
}

void HostOrder::find_bursts(const std::vector<train::HostTrack>& tracks) {
  std::vector<bool> launches(trace_.spans().size());
  for (const train::HostTrack& track : tracks)
    for (const train::HostEvent& event : track.events)
      if (event.kind == train::HostEvent::Kind::kCall)
        launches[event.span] = trace_.spans()[event.span].correlation != 0;
  for (const train::Handshake& one : train::find_handshakes(tracks, launches)) {
    const train::HostTrack& working = tracks[one.working];
    const Interval time{working.events[one.first].start,
                        std::max(working.events[one.last].start, working.events[one.last].end)};
    waits_[tracks[one.waiting].lane].push_back({time, working.lane});
    bursts_[working.lane].push_back({time, working.lane});
  }
  for (auto* bursts : {&waits_, &bursts_})
    for (auto& [lane, all] : *bursts)
      std::ranges::stable_sort(all, {}, [](const Burst& one) { return one.time.end; });
}

LaneId HostOrder::main_of(std::int32_t rank) const {
  const auto found = main_.find(rank);
  return found == main_.end() ? trace::kNone : found->second;
}

// That a thread works in at that time, for its main thread.
const HostOrder::Burst* HostOrder::burst_of(LaneId thread, Nanos time) const {
  const auto found = bursts_.find(thread);
  if (found == bursts_.end()) return nullptr;
  const auto burst = std::ranges::lower_bound(found->second, time, {},
                                              [](const Burst& one) { return one.time.end; });
  return burst != found->second.end() && burst->time.start < time ? &*burst : nullptr;
}

const HostOrder::Burst* HostOrder::burst_awaited(LaneId main, const Doing& doing,
                                                 Nanos time) const {
  const auto found = waits_.find(main);
  if (found == waits_.end()) return nullptr;
  const auto later = std::ranges::upper_bound(found->second, time, {},
                                              [](const Burst& burst) { return burst.time.end; });
  if (later == found->second.begin()) return nullptr;
  const Burst& last = *std::prev(later);
  return last.time.end > doing.start ? &last : nullptr;
}

SpanId HostOrder::last_work(std::int32_t rank, Nanos after, Nanos by) const {
  const auto found = works_of_.find(rank);
  return found == works_of_.end() ? trace::kNone : last_done(trace_, found->second, after, by);
}

// Of a call that waits the trace may say for what; else, where it is the device, it is for the last
// work of its rank's that was done before it returned.
SpanId HostOrder::awaited_by(const Doing& doing, Nanos time) const {
  const Span& span = trace_.spans()[doing.span];
  const SpanId staged = works_.staged_for(span.correlation, doing.start, time);
  if (staged != trace::kNone) return staged;
  if (span.category == Category::kHeld && span.cause == trace::Cause::kStaging) {
    // Where no staging is told of, the copy stands for it.
    const SpanId copied = works_.copied_for(span.correlation, doing.start, time);
    if (copied != trace::kNone) return copied;
  }
  const bool takes = span.cause == trace::Cause::kData;
  if (span.category != Category::kHeld && !takes) return trace::kNone;
  // Who comes first gets a lock: what its holder did before decides nothing.
  if (span.cause == trace::Cause::kLock) return trace::kNone;
  if (span.cause_span != trace::kNone) {
    const Nanos end = trace_.spans()[span.cause_span].end();
    return end > doing.start && end <= time ? span.cause_span : trace::kNone;
  }
  const bool is_device = span.cause != trace::Cause::kData && span.cause != trace::Cause::kCore &&
                         span.cause != trace::Cause::kStaging;
  return is_device ? last_work(trace_.lanes()[span.lane].rank, doing.start, time) : trace::kNone;
}

// A call that waits for the device while nothing is at work there only takes its time.
bool HostOrder::waits(const Doing& doing, Nanos time) const {
  const Span& span = trace_.spans()[doing.span];
  if (span.category != Category::kHeld) return false;
  const bool is_runtime = is_call_of_runtime(trace_.name(span));
  const auto works = works_of_.find(trace_.lanes()[span.lane].rank);
  if (!is_runtime || works == works_of_.end()) return true;
  const auto later = std::ranges::upper_bound(works->second, time, {},
                                              [&](SpanId id) { return trace_.spans()[id].end(); });
  return later != works->second.end() && trace_.spans()[*later].start < time;
}

HostOrder::Told HostOrder::before(LaneId thread, Nanos time) const {
  const auto history = threads_.find(thread);
  Doing doing{std::numeric_limits<Nanos>::min(), time, trace::kNone};
  if (history != threads_.end()) doing = history->second.before(time);
  Told told{doing.start, doing.span, false, trace::kNone, thread};
  told.awaited =
      doing.span == trace::kNone ? rested_for(thread, doing, time) : awaited_by(doing, time);
  if (told.awaited != trace::kNone) {
    told.since = trace_.spans()[told.awaited].end();
    return told;
  }
  told.is_wait = doing.span != trace::kNone && waits(doing, time);
  if (const Burst* burst = burst_awaited(thread, doing, time)) {
    told.since = burst->time.end;
    told.thread = burst->thread;
    return told;
  }
  const LaneId main = main_of(trace_.lanes()[thread].rank);
  // A thread that works for the main one begins when that lets it.
  if (!bursts_.contains(thread) || thread == main) return told;
  const Burst* burst = burst_of(thread, time);
  if (burst ? doing.start >= burst->time.start : doing.span != trace::kNone) return told;
  told.since = burst ? burst->time.start : time;
  told.thread = main;
  return told;
}

}  // namespace trainscope::analysis
