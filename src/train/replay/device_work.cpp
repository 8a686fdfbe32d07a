#include "train/replay/device_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/median.h"
#include "base/time_ends.h"
#include "trace/same_collectives.h"

namespace trainscope::train {
namespace {

using trace::Span;
using trace::SpanId;

// Longer than a launch takes to reach an idle GPU: what begins so much later waited for more.
constexpr Nanos kUnexplained = 3 * kMicrosecond;

class WorkFinder {
 public:
  WorkFinder(std::shared_ptr<const trace::Trace> trace, const std::vector<HostTrack>& tracks)
      : trace_(*trace), tracks_(tracks) {
    work_.recording.trace = std::move(trace);
    for (const HostTrack& track : tracks)
      for (const HostEvent& event : track.events)
        if (const Span& span = trace_.spans()[event.span];
            event.kind == HostEvent::Kind::kCall && span.correlation != 0)
          calls_made_.push_back({span.correlation, span.start, event.span});
    std::ranges::sort(calls_made_);
  }

  DeviceWork find() {
    add_works();
    find_calls();
    sort_by_calls();
    sort_by_ends();
    time_works();
    wait_for_collectives();
    wait_for_events();
    tighten_gaps();
    let_ranks_meet();
    return std::move(work_);
  }

 private:
  using Works = std::vector<program::RecordedWork>;

  const Span& span_of(std::uint32_t work) const {
    return trace_.spans()[work_.recording.works[work].span];
  }
  Nanos begun(std::uint32_t work) const { return begun_[work_.recording.works[work].span]; }
  int device_of(std::uint32_t work) const {
    return work_.streams[work_.recording.works[work].stream].device;
  }
  Works& works() { return work_.recording.works; }

  void add_works();
  SpanId call_of(SpanId work) const;
  void find_calls();
  void sort_by_calls();
  void sort_by_ends();
  std::vector<Nanos> idle_from() const;
  void find_usual_latency();
  void find_usual_gap();
  void time_works();
  void time_work(std::uint32_t id, std::uint32_t before);
  void wait_for_collectives();
  void wait_for_events();
  void tighten_gaps();
  void let_ranks_meet();
  void meet(const std::vector<std::uint32_t>& members);
  void wait_for_what_was_launched(std::uint32_t work, Nanos by);
  std::optional<std::uint32_t> last_elsewhere(std::uint32_t work, Nanos after) const;

  const trace::Trace& trace_;
  const std::vector<HostTrack>& tracks_;
  struct Made {
    std::uint32_t correlation = 0;
    Nanos start = 0;
    SpanId call = trace::kNone;
    auto operator<=>(const Made&) const = default;
  };
  std::vector<Made> calls_made_;  // by the tracks, sorted
  const std::vector<std::vector<SpanId>> meetings_ = trace::joined_collectives(trace_);
  const std::vector<Nanos> begun_ = trace::arrivals(trace_, meetings_);  // by span
  DeviceWork work_;
  std::vector<SpanId> calls_;  // by work
  Nanos usual_gap_ = 0;
};

void WorkFinder::add_works() {
  constexpr std::int32_t kMostDevices = 1024;  // a number beyond is no GPU's of a job
  std::map<trace::LaneId, std::uint32_t> streams;
  for (SpanId id = 0; id < trace_.spans().size(); ++id) {
    const Span& span = trace_.spans()[id];
    const trace::Lane& lane = trace_.lanes()[span.lane];
    if (!trace::is_gpu_work(span.category) || lane.kind != trace::LaneKind::kStream) continue;
    const auto [entry, added] =
        streams.emplace(span.lane, static_cast<std::uint32_t>(work_.streams.size()));
    if (added) {
      program::Stream stream;
      stream.name = lane.name;
      stream.number = static_cast<int>(std::max<std::int64_t>(1, lane.thread));
      stream.kind = program::StreamKind::kNonBlocking;
      stream.device = std::clamp(lane.device, 0, kMostDevices - 1);
      stream.rank = lane.rank;
      work_.streams.push_back(std::move(stream));
    }
    program::RecordedWork work;
    work.span = id;
    work.stream = entry->second;
    work.duration = span.duration;
    works().push_back(std::move(work));
  }
  std::ranges::sort(works(), {}, [&](const program::RecordedWork& one) {
    return std::pair(begun_[one.span], one.span);
  });
}

// A number may be given twice: then the last call that has it, and began before the work did.
SpanId WorkFinder::call_of(SpanId work) const {
  const std::uint32_t correlation = trace_.spans()[work].correlation;
  if (correlation == 0) return trace::kNone;
  const auto after = std::ranges::upper_bound(
      calls_made_, std::pair(correlation, begun_[work]), {},
      [](const Made& one) { return std::pair(one.correlation, one.start); });
  if (after != calls_made_.begin() && std::prev(after)->correlation == correlation)
    return std::prev(after)->call;
  // The clocks of host and device differ a little.
  return after != calls_made_.end() && after->correlation == correlation ? after->call
                                                                         : trace::kNone;
}

void WorkFinder::find_calls() {
  std::vector<SpanId> last(work_.streams.size(), trace::kNone);
  for (const program::RecordedWork& one : works()) {
    if (const SpanId call = call_of(one.span); call != trace::kNone) last[one.stream] = call;
    calls_.push_back(last[one.stream]);
  }
}

void WorkFinder::sort_by_calls() {
  std::vector<std::uint32_t> order(works().size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto called = [&](std::uint32_t i) {
    return calls_[i] == trace::kNone ? kBeforeAll : trace_.spans()[calls_[i]].start;
  };
  std::ranges::stable_sort(order, {},
                           [&](std::uint32_t i) { return std::pair(called(i), calls_[i]); });
  Works sorted;
  std::vector<SpanId> calls;
  work_.on_stream.resize(work_.streams.size());
  for (const std::uint32_t i : order) {
    work_.called.push_back(std::max<Nanos>(called(i), 0));
    sorted.push_back(std::move(works()[i]));
    calls.push_back(calls_[i]);
  }
  works() = std::move(sorted);
  calls_ = std::move(calls);
  for (std::uint32_t id = 0; id < works().size(); ++id) {
    work_.on_stream[works()[id].stream].push_back(id);
    if (calls_[id] == trace::kNone) {
      ++work_.without_call;
    } else {
      ++work_.of_call.try_emplace(calls_[id], WorksOfCall{id, 0}).first->second.count;
    }
  }
}

void WorkFinder::sort_by_ends() {
  work_.by_end.resize(works().size());
  for (std::uint32_t i = 0; i < work_.by_end.size(); ++i) work_.by_end[i] = i;
  std::ranges::stable_sort(work_.by_end, {}, [&](std::uint32_t i) { return span_of(i).end(); });
}

// When all is done that was called before it on its GPU, by work: a stream that is free may still
// wait for another one's.
std::vector<Nanos> WorkFinder::idle_from() const {
  std::map<int, Nanos> done;  // by device
  std::vector<Nanos> times;
  for (std::uint32_t id = 0; id < work_.recording.works.size(); ++id) {
    Nanos& until = done.try_emplace(device_of(id), kBeforeAll).first->second;
    times.push_back(until);
    until = std::max(until, span_of(id).end());
  }
  return times;
}

// The middle of those that waited for nothing but their call; without such the shortest of all,
// which none can be below.
void WorkFinder::find_usual_latency() {
  const std::vector<Nanos> idle = idle_from();
  std::vector<Nanos> latencies;
  Nanos shortest = kEndless;
  for (const std::vector<std::uint32_t>& stream : work_.on_stream)
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const Nanos since_call = std::max<Nanos>(begun(stream[i]) - work_.called[stream[i]], 0);
      shortest = std::min(shortest, since_call);
      if (i > 0 && idle[stream[i]] <= work_.called[stream[i]]) latencies.push_back(since_call);
    }
  work_.usual_latency = latencies.empty() ? shortest : median(std::move(latencies));
}

// Of works whose call was long through when the one before ended.
void WorkFinder::find_usual_gap() {
  constexpr Nanos kUnknown = kMicrosecond;  // as the GPUs of the catalogue have it
  std::vector<Nanos> gaps;
  for (const std::vector<std::uint32_t>& stream : work_.on_stream)
    for (std::size_t i = 1; i < stream.size(); ++i) {
      const Nanos free = span_of(stream[i - 1]).end(), start = begun(stream[i]);
      if (free >= work_.called[stream[i]] + work_.usual_latency && start >= free)
        gaps.push_back(start - free);
    }
  usual_gap_ = gaps.empty() ? kUnknown : median(std::move(gaps));
}

void WorkFinder::time_works() {
  find_usual_latency();
  find_usual_gap();
  for (const std::vector<std::uint32_t>& stream : work_.on_stream)
    for (std::size_t i = 0; i < stream.size(); ++i)
      time_work(stream[i], i == 0 ? stream[i] : stream[i - 1]);
}

// `before`: the work before it on its stream; itself where there is none.
void WorkFinder::time_work(std::uint32_t id, std::uint32_t before) {
  program::RecordedWork& work = works()[id];
  const Nanos start = begun(id);
  const Nanos since_call = std::max<Nanos>(start - work_.called[id], 0);
  const Nanos free = before == id ? kBeforeAll : span_of(before).end();
  const Nanos reached = work_.called[id] + work_.usual_latency;
  const Nanos ready = free == kBeforeAll ? reached : std::max(reached, free + usual_gap_);
  work.latency = std::min(work_.usual_latency, since_call);
  work.gap = usual_gap_;
  const auto other = start - ready > kUnexplained
                         ? last_elsewhere(id, std::max(work_.called[id], free))
                         : std::nullopt;
  if (other) {
    work.after.push_back(*other);
    work.gap = start - span_of(*other).end();
  } else if (free != kBeforeAll && free + usual_gap_ >= reached) {
    work.gap = std::max<Nanos>(start - free, 0);
  } else {
    work.latency = since_call;
    if (free != kBeforeAll) work.gap = std::clamp<Nanos>(start - free, 0, usual_gap_);
  }
}

// Of the device's other streams, what ended last before the work began, if that was after `after`.
std::optional<std::uint32_t> WorkFinder::last_elsewhere(std::uint32_t work, Nanos after) const {
  const auto& works = work_.recording.works;
  auto one = std::ranges::upper_bound(work_.by_end, begun(work), {},
                                      [&](std::uint32_t i) { return span_of(i).end(); });
  while (one != work_.by_end.begin()) {
    --one;
    if (span_of(*one).end() <= after) return std::nullopt;
    if (works[*one].stream != works[work].stream && device_of(*one) == device_of(work) &&
        *one < work)
      return *one;
  }
  return std::nullopt;
}

void WorkFinder::wait_for_collectives() {
  for (std::uint32_t id = work_.without_call; id < works().size(); ++id)
    if (span_of(id).category == trace::Category::kCollective)
      wait_for_what_was_launched(id, work_.called[id]);
}

void WorkFinder::wait_for_events() {
  for (const HostTrack& track : tracks_) {
    Nanos waits = kBeforeAll;
    for (const HostEvent& event : track.events) {
      if (event.kind != HostEvent::Kind::kCall) continue;
      if (trace_.name(trace_.spans()[event.span]).find("StreamWaitEvent") != std::string::npos)
        waits = event.start;
      const auto enqueued = work_.of_call.find(event.span);
      if (enqueued == work_.of_call.end() || waits == kBeforeAll) continue;
      wait_for_what_was_launched(enqueued->second.first, waits);
      waits = kBeforeAll;
    }
  }
}

// The last of each other stream that was launched by then, and was done when the work began.
void WorkFinder::wait_for_what_was_launched(std::uint32_t work, Nanos by) {
  std::vector<std::uint32_t>& after = works()[work].after;
  for (std::uint32_t stream = 0; stream < work_.on_stream.size(); ++stream) {
    if (stream == works()[work].stream || work_.streams[stream].device != device_of(work)) continue;
    const std::vector<std::uint32_t>& there = work_.on_stream[stream];
    auto next =
        std::ranges::upper_bound(there, by, {}, [&](std::uint32_t i) { return work_.called[i]; });
    while (next != there.begin() && *std::prev(next) >= work) --next;
    if (next == there.begin()) continue;
    const std::uint32_t last = *std::prev(next);
    if (span_of(last).end() <= begun(work) && std::ranges::find(after, last) == after.end())
      after.push_back(last);
  }
}

// A work begins no later than it did, whichever of those that it waits for is done last. A copy
// from pageable memory does once its first bytes are staged, which begins when its turn comes.
void WorkFinder::tighten_gaps() {
  for (const std::vector<std::uint32_t>& stream : work_.on_stream)
    for (std::size_t i = 0; i < stream.size(); ++i) {
      program::RecordedWork& work = works()[stream[i]];
      Nanos done = i == 0 ? kBeforeAll : span_of(stream[i - 1]).end();
      for (const std::uint32_t before : work.after) done = std::max(done, span_of(before).end());
      const Nanos start = begun(stream[i]);
      if (is_from_pageable(trace_, span_of(stream[i])))
        work.latency = work.gap =
            std::max<Nanos>(start - std::max(done, work_.called[stream[i]]), 0);
      else if (done != kBeforeAll)
        work.gap = std::min(work.gap, std::max<Nanos>(start - done, 0));
    }
}

void WorkFinder::let_ranks_meet() {
  std::unordered_map<SpanId, std::uint32_t> work_of;
  for (std::uint32_t id = 0; id < works().size(); ++id) work_of[works()[id].span] = id;
  for (const std::vector<SpanId>& spans : meetings_) {
    std::vector<std::uint32_t> members;
    for (const SpanId span : spans) members.push_back(work_of.at(span));
    meet(members);
  }
}

// Nobody is done with what needs all ranks before the last has come; one that is done before does
// not wait for it.
void WorkFinder::meet(const std::vector<std::uint32_t>& members) {
  Nanos all_there = kBeforeAll;
  for (const std::uint32_t id : members) all_there = std::max(all_there, begun(id));
  const auto meeting = static_cast<std::uint32_t>(work_.recording.meetings.size());
  work_.recording.meetings.push_back(static_cast<std::uint32_t>(members.size()));
  for (const std::uint32_t id : members) {
    program::RecordedWork& work = works()[id];
    const Nanos end = span_of(id).end();
    const auto& detail = std::get<trace::CollectiveDetail>(*trace_.detail(span_of(id)));
    work.meeting = meeting;
    work.waits_for_ranks = end >= all_there || trace::ends_together(detail.operation);
    work.duration = std::max<Nanos>(end - (work.waits_for_ranks ? all_there : begun(id)), 0);
  }
}

}  // namespace

bool is_from_pageable(const trace::Trace& trace, const Span& work) {
  const trace::Detail* detail = trace.detail(work);
  const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
  return copy && copy->from == trace::Memory::kPageable &&
         work.category == trace::Category::kCopyH2D;
}

DeviceWork device_work(std::shared_ptr<const trace::Trace> trace,
                       const std::vector<HostTrack>& tracks) {
  return WorkFinder(std::move(trace), tracks).find();
}

}  // namespace trainscope::train
