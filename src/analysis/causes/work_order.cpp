#include "analysis/causes/work_order.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "trace/same_collectives.h"
#include "train/replay/device_work.h"
#include "train/replay/waits_of_ranks.h"

namespace trainscope::analysis {
namespace {

using trace::Span;
using trace::SpanId;

// Longer than a GPU takes from one kernel to the next.
constexpr Nanos kLongestGap = 3 * kMicrosecond;

// A recorded work may wait for its call, for the work before it on its stream, and for others.
class Inference {
 public:
  Inference(const trace::Trace& trace, const train::DeviceWork& work) : trace_(trace), work_(work) {
    calls_.resize(work.recording.works.size(), trace::kNone);
    for (const auto& [call, works] : work.of_call)
      for (std::uint32_t i = 0; i < works.count; ++i) calls_[works.first + i] = call;
  }

  // `before`: the work before it on its stream; itself where there is none.
  Awaited of(std::uint32_t id, std::uint32_t before) const {
    const program::RecordedWork& work = work_.recording.works[id];
    Awaited awaited;
    Nanos latest = std::numeric_limits<Nanos>::min();
    if (calls_[id] != trace::kNone) {
      awaited = {calls_[id], Awaited::As::kCall};
      latest = work_.called[id] + work.latency;
    }
    const auto consider = [&](std::uint32_t other) {
      const SpanId span = work_.recording.works[other].span;
      if (trace_.spans()[span].end() + work.gap < latest) return;
      latest = trace_.spans()[span].end() + work.gap;
      awaited = {span, Awaited::As::kDone};
    };
    if (before != id) consider(before);
    for (const std::uint32_t other : work.after) consider(other);
    // Without a call there is no telling whether it had been launched by then.
    if (calls_[id] == trace::kNone && awaited.span != trace::kNone &&
        latest - trace_.spans()[awaited.span].end() > kLongestGap)
      awaited.as = Awaited::As::kUntold;
    return awaited;
  }

 private:
  const trace::Trace& trace_;
  const train::DeviceWork& work_;
  std::vector<SpanId> calls_;  // by work
};

}  // namespace

SpanId last_done(const trace::Trace& trace, const std::vector<SpanId>& spans, Nanos after,
                 Nanos by) {
  const auto later =
      std::ranges::upper_bound(spans, by, {}, [&](SpanId id) { return trace.spans()[id].end(); });
  if (later == spans.begin()) return trace::kNone;
  const SpanId last = *std::prev(later);
  return trace.spans()[last].end() > after ? last : trace::kNone;
}

WorkOrder::WorkOrder(const trace::Trace& trace, const std::vector<train::HostTrack>& tracks)
    : trace_(trace),
      is_inferred_(trace.origin().kind != trace::OriginKind::kSimulated),
      calls_(trace, trace::kNone),
      at_once_(trace) {
  find_parts();
  find_meetings();
  if (is_inferred_) infer(tracks);
}

void WorkOrder::find_parts() {
  const auto& spans = trace_.spans();
  for (SpanId id = 0, n = spans.size(); id < n; ++id) {
    const Span& span = spans[id];
    if (span.correlation == 0) continue;
    const trace::LaneKind kind = trace_.lanes()[span.lane].kind;
    if (kind == trace::LaneKind::kCopyEngine) transfers_[span.correlation].push_back(id);
    if (span.category == trace::Category::kStaging) staged_[span.correlation].push_back(id);
    if (kind == trace::LaneKind::kStream && trace::is_copy(span.category))
      copied_[span.correlation].push_back(id);
    if (kind == trace::LaneKind::kStream && span.category == trace::Category::kCollective &&
        span.cause != trace::Cause::kPeer)
      came_[span.correlation] = id;
    if (is_joined_call(span)) calls_.add(span.correlation, id);
  }
  for (ByCall* parts : {&transfers_, &staged_, &copied_})
    for (auto& [call, ids] : *parts)
      std::ranges::stable_sort(ids, {}, [&](SpanId id) { return spans[id].end(); });
}

void WorkOrder::find_meetings() {
  const std::vector<std::vector<SpanId>> meetings = trace::joined_collectives(trace_);
  if (meetings.empty()) return;
  const std::vector<Nanos> came = trace::arrivals(trace_, meetings);
  for (const std::vector<SpanId>& parts : meetings) {
    const SpanId last =
        *std::ranges::max_element(parts, {}, [&](SpanId part) { return came[part]; });
    for (const SpanId part : parts)
      if (came[last] > came[part]) last_[part] = last;
  }
}

void WorkOrder::infer(const std::vector<train::HostTrack>& tracks) {
  const std::shared_ptr<const trace::Trace> unowned(std::shared_ptr<void>(), &trace_);
  const train::DeviceWork work = train::device_work(unowned, tracks);
  const Inference inference(trace_, work);
  for (const std::vector<std::uint32_t>& stream : work.on_stream)
    for (std::size_t i = 0; i < stream.size(); ++i)
      inferred_[work.recording.works[stream[i]].span] =
          inference.of(stream[i], stream[i == 0 ? 0 : i - 1]);
  const std::vector<Nanos> waits = train::waits_of_ranks(work.recording);
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (waits[i] > 0) absent_[work.recording.works[i].span] = waits[i];
}

Awaited WorkOrder::call_of(std::uint32_t correlation) const {
  const SpanId* call = correlation == 0 ? nullptr : calls_.find(correlation);
  if (!call) return {};
  return {*call, Awaited::As::kCall};
}

// A part of the staging buffer is copied into once the part before is there, and the engine has
// taken what was there; it is copied out of once the engine has brought it.
Awaited WorkOrder::before_staging(SpanId staging) const {
  const Span& span = trace_.spans()[staging];
  Awaited awaited;
  Nanos latest = std::numeric_limits<Nanos>::min();
  if (span.cause_span != trace::kNone &&
      trace_.spans()[span.cause_span].category == trace::Category::kStaging) {
    awaited.span = span.cause_span;
    latest = trace_.spans()[span.cause_span].end();
  }
  if (const auto found = transfers_.find(span.correlation); found != transfers_.end()) {
    const SpanId transfer = last_done(trace_, found->second, latest, span.start);
    if (transfer != trace::kNone) awaited.span = transfer;
  }
  return awaited.span == trace::kNone ? call_of(span.correlation) : awaited;
}

Awaited WorkOrder::before(SpanId work) const {
  const Span& span = trace_.spans()[work];
  if (span.category == trace::Category::kStaging) return before_staging(work);
  if (is_inferred_) {
    const auto found = inferred_.find(work);
    return found == inferred_.end() ? call_of(span.correlation) : found->second;
  }
  if (span.cause == trace::Cause::kRoom)
    if (const SpanId beside = at_once_.first_beside(work); beside != trace::kNone)
      return {beside, Awaited::As::kRoom};
  const bool is_call = span.cause == trace::Cause::kLaunch;
  return {span.cause_span, is_call ? Awaited::As::kCall : Awaited::As::kDone};
}

SpanId WorkOrder::transfer_of(SpanId work, Nanos by) const {
  const Span& span = trace_.spans()[work];
  if (is_inferred_ || !trace::is_copy(span.category) || span.correlation == 0 ||
      trace_.lanes()[span.lane].kind != trace::LaneKind::kStream)
    return work;
  const auto found = transfers_.find(span.correlation);
  if (found == transfers_.end()) return work;
  const SpanId transfer = last_done(trace_, found->second, span.start, by);
  return transfer == trace::kNone ? work : transfer;
}

SpanId WorkOrder::staged_for(std::uint32_t correlation, Nanos after, Nanos by) const {
  const auto found = staged_.find(correlation);
  if (correlation == 0 || found == staged_.end()) return trace::kNone;
  return last_done(trace_, found->second, after, by);
}

SpanId WorkOrder::copied_for(std::uint32_t correlation, Nanos after, Nanos by) const {
  const auto found = copied_.find(correlation);
  if (correlation == 0 || found == copied_.end()) return trace::kNone;
  return last_done(trace_, found->second, after, by);
}

// A copy of a replay has no detail, but a call that was held.
bool WorkOrder::is_with_its_staging(SpanId work) const {
  const Span& span = trace_.spans()[work];
  if (!trace::is_copy(span.category) || staged_.contains(span.correlation) ||
      trace_.lanes()[span.lane].kind != trace::LaneKind::kStream)
    return false;
  const trace::Detail* detail = trace_.detail(span);
  const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
  if (copy) return copy->from == trace::Memory::kPageable || copy->to == trace::Memory::kPageable;
  const SpanId call = call_of(span.correlation).span;
  return call != trace::kNone && trace_.spans()[call].category == trace::Category::kHeld &&
         trace_.spans()[call].cause == trace::Cause::kStaging;
}

Nanos WorkOrder::wait_for_absent(SpanId work) const {
  const auto found = absent_.find(work);
  return found == absent_.end() ? 0 : found->second;
}

SpanId WorkOrder::last_to_come(SpanId work) const {
  if (const auto found = last_.find(work); found != last_.end()) return found->second;
  // The GPUs of one process are no ranks: their parts name the call of the one that came last.
  const Span& span = trace_.spans()[work];
  if (is_inferred_ || span.cause != trace::Cause::kPeer || span.cause_span == trace::kNone)
    return work;
  const auto part = came_.find(trace_.spans()[span.cause_span].correlation);
  return part == came_.end() ? work : part->second;
}

}  // namespace trainscope::analysis
