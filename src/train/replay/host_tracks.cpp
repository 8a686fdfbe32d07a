#include "train/replay/host_tracks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace trainscope::train {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;
using trace::SpanId;

bool is_call(const Span& span) {
  return span.category == Category::kHostApi ||
         (span.category == Category::kHeld && span.cause != trace::Cause::kData);
}

bool loads(const Span& span) {
  return span.category == Category::kLoader ||
         (span.category == Category::kHeld && span.cause == trace::Cause::kData);
}

class TrackWriter {
 public:
  // `enqueues`: by correlation, whether work of a device has it.
  TrackWriter(const trace::Trace& trace, const std::unordered_set<std::uint32_t>& enqueues)
      : trace_(trace), enqueues_(enqueues) {}

  void put(SpanId id) {
    const Span& span = trace_.spans()[id];
    while (!open_.empty() && ends_by(trace_.spans()[open_.back().span], span))
      close(std::min(trace_.spans()[open_.back().span].end(), span.start));
    add(HostEvent::Kind::kBegin, id, span.start);
    open_.push_back({id, events_.size() - 1});
    if (loads(span)) ++loaders_;
  }
  std::vector<HostEvent> finish() {
    while (!open_.empty()) close(trace_.spans()[open_.back().span].end());
    return std::move(events_);
  }

 private:
  struct Open {
    SpanId span = trace::kNone;
    std::size_t begin = 0;  // its event
  };

  void add(HostEvent::Kind kind, SpanId id, Nanos time) {
    now_ = std::max(now_, time);
    events_.push_back({kind, loaders_ > 0, false, id, now_, now_});
  }
  // Before the other begins; a call that this one overlaps without being in it ends there.
  static bool ends_by(const Span& open, const Span& other) {
    return open.end() <= other.start || (is_call(open) && open.end() < other.end());
  }
  void close(Nanos end) {
    const Open open = open_.back();
    const Span& span = trace_.spans()[open.span];
    open_.pop_back();
    if (is_call(span) &&
        (open.begin + 1 == events_.size() || enqueues_.contains(span.correlation))) {
      const bool is_held =
          std::any_of(events_.begin() + static_cast<std::ptrdiff_t>(open.begin) + 1, events_.end(),
                      [&](const HostEvent& one) {
                        return trace_.spans()[one.span].category == Category::kHeld;
                      });
      events_.resize(open.begin + 1);
      HostEvent& call = events_.back();
      call.is_held = is_held;
      call.kind = HostEvent::Kind::kCall;
      now_ = call.end = std::max(now_, end);
      return;
    }
    add(HostEvent::Kind::kEnd, open.span, end);
    if (loads(span)) --loaders_;
  }

  const trace::Trace& trace_;
  const std::unordered_set<std::uint32_t>& enqueues_;
  std::vector<HostEvent> events_;
  std::vector<Open> open_;
  int loaders_ = 0;
  Nanos now_ = 0;
};

std::unordered_set<std::uint32_t> correlations_of_work(const trace::Trace& trace) {
  std::unordered_set<std::uint32_t> found;
  for (SpanId id = 0; id < trace.spans().size(); ++id) {
    const Span& span = trace.spans()[id];
    if (trace::is_gpu_work(span.category) && span.correlation != 0) found.insert(span.correlation);
  }
  return found;
}

// Marks of steps stand on a lane of their own, with the number of their thread; in our own traces
// they are the first thread's.
std::map<trace::LaneId, trace::LaneId> lanes_of_threads(const trace::Trace& trace) {
  std::map<trace::LaneId, trace::LaneId> lanes;
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, trace::LaneId> threads;
  for (trace::LaneId id = 0; id < trace.lanes().size(); ++id) {
    const trace::Lane& lane = trace.lanes()[id];
    if (lane.kind != LaneKind::kHostThread && lane.kind != LaneKind::kPinThread) continue;
    lanes[id] = id;
    threads.emplace(std::tuple(lane.rank, lane.process, lane.thread), id);
  }
  for (trace::LaneId id = 0; id < trace.lanes().size(); ++id) {
    const trace::Lane& lane = trace.lanes()[id];
    if (lane.kind != LaneKind::kSteps) continue;
    const auto own = threads.find(std::tuple(lane.rank, lane.process, lane.thread));
    const auto first = std::ranges::find_if(
        lanes, [&](const auto& one) { return trace.lanes()[one.first].rank == lane.rank; });
    if (own != threads.end())
      lanes[id] = own->second;
    else if (first != lanes.end())
      lanes[id] = first->second;
  }
  return lanes;
}

// Of a rank the one with marks of steps; else the one that Linux numbers as its process; else the
// first to begin.
auto main_first(const trace::Trace& trace, const std::vector<bool>& has_steps) {
  return [&trace, &has_steps](const HostTrack& track) {
    const trace::Lane& lane = trace.lanes()[track.lane];
    return std::tuple(track.rank, !has_steps[track.lane], lane.thread != lane.process,
                      track.events.front().start);
  };
}

struct Burst {
  std::size_t gap = 0;  // the main thread's event that follows
  std::size_t first = 0;
  std::size_t last = 0;
  bool whole = true;  // it begins and ends outside of every operator
  bool launches = false;
};

// At one time, what ends another thread's work comes before what the main thread does then.
bool comes_before(const HostEvent& main, const HostEvent& event) {
  return main.start < event.start ||
         (main.start == event.start && event.kind != HostEvent::Kind::kEnd);
}

class BurstFinder {
 public:
  BurstFinder(const std::vector<HostEvent>& main, const std::vector<bool>& launches)
      : main_(main), launches_(launches) {}

  std::vector<Burst> find(const std::vector<HostEvent>& events) {
    std::vector<Burst> bursts;
    int depth = 0;
    std::size_t next = 0;
    bool open = false;
    for (std::size_t i = 0; i < events.size(); ++i) {
      while (next < main_.size() && comes_before(main_[next], events[i])) ++next;
      const bool waits = next > 0 && main_[next - 1].end <= events[i].start;
      if (open && (!waits || bursts.back().gap != next)) {
        bursts.back().whole &= depth == 0;
        open = false;
      }
      if (waits && !open) {
        bursts.push_back({next, i, i, depth == 0, false});
        open = true;
      }
      if (open) take(bursts.back(), i, events[i]);
      if (events[i].kind == HostEvent::Kind::kBegin) ++depth;
      if (events[i].kind == HostEvent::Kind::kEnd) --depth;
    }
    return bursts;
  }

 private:
  void take(Burst& burst, std::size_t i, const HostEvent& event) const {
    burst.last = i;
    burst.launches |= event.kind == HostEvent::Kind::kCall && launches_[event.span];
    if (burst.gap < main_.size()) burst.whole &= event.end <= main_[burst.gap].start;
  }

  const std::vector<HostEvent>& main_;
  const std::vector<bool>& launches_;
};

bool launches_any(const HostTrack& track, const std::vector<bool>& launches) {
  return std::ranges::any_of(track.events, [&](const HostEvent& event) {
    return event.kind == HostEvent::Kind::kCall && launches[event.span];
  });
}

void add_starts(const std::vector<HostTrack>& tracks, std::size_t main, std::size_t working,
                std::vector<Start>& starts) {
  const std::vector<HostEvent>& before = tracks[main].events;
  const std::vector<HostEvent>& events = tracks[working].events;
  std::size_t done = 0;  // of the main thread's
  int depth = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const HostEvent& event = events[i];
    while (done < before.size() && before[done].end <= event.start &&
           comes_before(before[done], event))
      ++done;
    const bool begins = depth == 0 && event.kind != HostEvent::Kind::kEnd;
    if (begins && done > 0 && (i == 0 || before[done - 1].end > events[i - 1].end))
      starts.push_back({main, done - 1, working, i});
    if (event.kind == HostEvent::Kind::kBegin) ++depth;
    if (event.kind == HostEvent::Kind::kEnd) --depth;
  }
}

// Whether a mark begins within a span and ends behind it, or the other way round: a thread's own
// marks nest with what it does. `marks` by start, one behind another.
bool crosses(const std::vector<Span>& marks, const Span& span) {
  const auto begins = std::ranges::upper_bound(marks, span.start, {}, &Span::start);
  if (begins != marks.begin()) {
    const Nanos end = std::prev(begins)->end();
    if (std::prev(begins)->start < span.start && end > span.start && end < span.end()) return true;
  }
  const auto behind = std::ranges::lower_bound(marks, span.end(), {}, &Span::start);
  return behind != begins && behind != marks.begin() && std::prev(behind)->end() > span.end();
}

// Marks that are not a thread's own are copies of another rank's, which has none of its own.
std::vector<SpanId> own_marks(const trace::Trace& trace, const std::vector<SpanId>& ids,
                              const std::vector<SpanId>& marks) {
  std::vector<Span> times;
  for (const SpanId id : marks) times.push_back(trace.spans()[id]);
  std::ranges::sort(times, {}, &Span::start);
  const bool are_copies =
      std::ranges::any_of(ids, [&](SpanId id) { return crosses(times, trace.spans()[id]); });
  return are_copies ? std::vector<SpanId>() : marks;
}

}  // namespace

std::vector<HostTrack> host_tracks(const trace::Trace& trace) {
  const std::map<trace::LaneId, trace::LaneId> lanes = lanes_of_threads(trace);
  std::map<trace::LaneId, std::vector<SpanId>> spans, marks;
  std::vector<bool> has_steps(trace.lanes().size());
  for (SpanId id = 0; id < trace.spans().size(); ++id) {
    const auto lane = lanes.find(trace.spans()[id].lane);
    if (lane == lanes.end() || trace.spans()[id].category == Category::kSync) continue;
    const bool is_mark = lane->first != lane->second;
    if (is_mark) has_steps[lane->second] = true;
    (is_mark ? marks : spans)[lane->second].push_back(id);
  }
  std::optional<std::int32_t> first;  // the rank whose marks are the steps
  for (const auto& [lane, ids] : marks)
    first = std::min(first.value_or(trace.lanes()[lane].rank), trace.lanes()[lane].rank);
  for (const auto& [lane, ids] : marks) {
    std::vector<SpanId>& others = spans[lane];
    const bool are_steps = trace.lanes()[lane].rank == first;
    const std::vector<SpanId> own = are_steps ? ids : own_marks(trace, others, ids);
    others.insert(others.end(), own.begin(), own.end());
  }
  const std::unordered_set<std::uint32_t> enqueues = correlations_of_work(trace);
  std::vector<HostTrack> tracks;
  for (auto& [lane, ids] : spans) {
    std::ranges::sort(ids, {}, [&](SpanId id) {
      const Span& span = trace.spans()[id];
      return std::tuple(span.start, -span.duration, id);
    });
    TrackWriter writer(trace, enqueues);
    for (const SpanId id : ids) writer.put(id);
    tracks.push_back({lane, trace.lanes()[lane].rank, writer.finish()});
  }
  std::ranges::stable_sort(tracks, {}, main_first(trace, has_steps));
  return tracks;
}

std::vector<Handshake> find_handshakes(const std::vector<HostTrack>& tracks,
                                       const std::vector<bool>& launches) {
  std::vector<Handshake> handshakes;
  std::size_t main = 0;
  for (std::size_t track = 1; track < tracks.size(); ++track) {
    if (tracks[track].rank != tracks[main].rank) {
      main = track;
      continue;
    }
    for (const Burst& burst : BurstFinder(tracks[main].events, launches).find(tracks[track].events))
      if (burst.whole && burst.launches)
        handshakes.push_back({main, burst.gap, track, burst.first, burst.last});
  }
  std::ranges::stable_sort(handshakes, {},
                           [](const Handshake& one) { return std::pair(one.waiting, one.before); });
  return handshakes;
}

std::vector<Start> find_starts(const std::vector<HostTrack>& tracks,
                               const std::vector<bool>& launches) {
  std::vector<Start> starts;
  std::size_t main = 0;
  for (std::size_t track = 1; track < tracks.size(); ++track) {
    if (tracks[track].rank != tracks[main].rank)
      main = track;
    else if (launches_any(tracks[track], launches))
      add_starts(tracks, main, track, starts);
  }
  return starts;
}

}  // namespace trainscope::train
