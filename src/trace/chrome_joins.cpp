// Arrows, causes and phases: what joins the spans of a Chrome trace.
#include <algorithm>
#include <tuple>

#include "trace/chrome_assemble.h"

namespace trainscope::trace::chrome {
namespace {

// The spans of the tracks that have loose ends, by start.
class SpanFinder {
 public:
  SpanFinder(const Collected& collected, std::vector<TrackId> tracks) : collected_(collected) {
    std::ranges::sort(tracks);
    for (SpanId id = 0; id < collected.spans.size(); ++id)
      if (std::ranges::binary_search(tracks, track_of(id))) ids_.push_back(id);
    std::ranges::sort(ids_, {}, [this](SpanId id) { return key(id); });
  }

  // The innermost span of the track that holds the time, or kNone.
  SpanId find(TrackId track, Nanos time) const {
    constexpr int kDepth = 256;  // deeper stacks than anyone's, so that the search stays short
    auto at = std::ranges::upper_bound(ids_, std::pair(track, time), {},
                                       [this](SpanId id) { return key(id); });
    for (int i = 0; i < kDepth && at != ids_.begin(); ++i) {
      const Span& span = collected_.spans[*--at];
      if (track_of(*at) != track) break;
      if (span.end() >= time) return *at;
    }
    return kNone;
  }

 private:
  TrackId track_of(SpanId id) const { return collected_.lanes[collected_.spans[id].lane].track; }
  std::pair<TrackId, Nanos> key(SpanId id) const {
    return {track_of(id), collected_.spans[id].start};
  }

  const Collected& collected_;
  std::vector<SpanId> ids_;
};

// A span that is going on at some time of a sweep, and the phase of what runs in it.
struct OpenMark {
  Nanos end;
  Phase phase;
};

// A forward pass that runs again within a backward pass (checkpointing) is part of the latter.
Phase phase_within(Phase outer, Phase inner) {
  return outer == Phase::kBackward && inner == Phase::kForward ? outer : inner;
}

Category category_of(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return Category::kForward;
    case Phase::kBackward:
      return Category::kBackward;
    case Phase::kOptimizer:
      return Category::kOptimizer;
    case Phase::kNone:
      break;
  }
  return Category::kKernel;
}

struct Question {
  std::uint32_t lane;
  Nanos time;
  SpanId kernel;
};

std::vector<Question> launched_kernels(const Collected& collected) {
  std::vector<Question> questions;
  for (SpanId id = 0; id < collected.spans.size(); ++id) {
    const Span& span = collected.spans[id];
    if (span.category != Category::kKernel || span.cause_span == kNone) continue;
    const Span& launch = collected.spans[span.cause_span];
    questions.push_back({launch.lane, launch.start, id});
  }
  std::ranges::sort(questions, {}, [](const Question& q) { return std::pair(q.lane, q.time); });
  return questions;
}

// A forward operator is known by the arrow to its backward one.
void mark_forward_operators(Collected& collected) {
  for (const FlowEnd& start : collected.flow_starts.ends) {
    if (start.kind != FlowKind::kForwardBackward || start.span == kNone) continue;
    const Span& span = collected.spans[start.span];
    collected.marks.push_back({span.lane, span.start, span.end(), Phase::kForward});
  }
}

// Whether autograd has the host's lane for itself: all that its marks tell, each by the outermost,
// is backward. There gradients are also added up, outside of every mark.
std::vector<bool> autograd_lanes(const std::vector<PhaseMark>& sorted, std::size_t lanes) {
  std::vector<bool> backward(lanes), others(lanes);
  std::uint32_t lane = kNone;
  Nanos end = 0;
  for (const PhaseMark& mark : sorted) {
    if (mark.lane == lane && mark.start < end) continue;
    lane = mark.lane;
    end = mark.end;
    (mark.phase == Phase::kBackward ? backward : others)[lane] = true;
  }
  for (std::size_t i = 0; i < lanes; ++i) backward[i] = backward[i] && !others[i];
  return backward;
}

}  // namespace

void place_loose_ends(Collected& collected) {
  std::vector<TrackId> tracks;
  for (const FlowEnds* side : {&collected.flow_starts, &collected.flow_ends})
    for (const LooseEnd& loose : side->loose) tracks.push_back(loose.track);
  if (tracks.empty()) return;
  const SpanFinder finder(collected, std::move(tracks));
  for (FlowEnds* side : {&collected.flow_starts, &collected.flow_ends})
    for (const LooseEnd& loose : side->loose)
      side->ends[loose.index].span = finder.find(loose.track, loose.time);
}

std::vector<Flow> join_flows(Collected& collected) {
  const auto& starts = collected.flow_starts.ends;
  IdMap by_id(starts.size());
  std::vector<bool> joined(starts.size());
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    if (starts[i].span == kNone) {
      collected.lose(Loss::kFlowUnplaced);
      joined[i] = true;  // counted
    } else {
      by_id.insert(starts[i].id, i);
    }
  }
  struct Numbered {
    std::uint32_t number;
    Flow flow;
  };
  std::vector<Numbered> flows;
  for (const FlowEnd& end : collected.flow_ends.ends) {
    const std::uint32_t start = by_id.find(end.id);
    if (end.span == kNone) {
      collected.lose(Loss::kFlowUnplaced);
    } else if (start == kNone) {
      collected.lose(Loss::kFlowEnd);
    } else {
      joined[start] = true;
      flows.push_back({starts[start].number, {starts[start].span, end.span, end.kind}});
    }
  }
  collected.lose(Loss::kFlowStart, std::ranges::count(joined, false));
  if (std::ranges::any_of(flows, [](const Numbered& one) { return one.number != kNone; }))
    std::ranges::stable_sort(flows, {}, &Numbered::number);
  std::vector<Flow> result;
  result.reserve(flows.size());
  for (const Numbered& one : flows) result.push_back(one.flow);
  return result;
}

void find_causes(Collected& collected) {
  IdMap launches(collected.launches.size());
  for (const Launch& launch : collected.launches) launches.insert(launch.correlation, launch.span);
  for (Span& span : collected.spans) {
    if (span.correlation == 0 || !is_gpu_work(span.category)) continue;
    span.cause_span = launches.find(span.correlation);
    if (span.cause_span != kNone) span.cause = Cause::kLaunch;
  }
}

// Only the name of the device's part tells: "Memcpy HtoD (Pageable -> Device)".
void find_staged_calls(Collected& collected) {
  for (const Span& span : collected.spans) {
    if (!is_copy(span.category) || span.cause_span == kNone || span.detail == kNone) continue;
    const auto* copy = std::get_if<CopyDetail>(&collected.trace->details()[span.detail]);
    if (!copy || (copy->from != Memory::kPageable && copy->to != Memory::kPageable)) continue;
    Span& call = collected.spans[span.cause_span];
    call.category = Category::kHeld;
    call.cause = Cause::kStaging;
  }
}

void find_phases(Collected& collected) {
  mark_forward_operators(collected);
  auto& marks = collected.marks;
  std::ranges::sort(marks, {}, [](const PhaseMark& mark) {
    return std::tuple(mark.lane, mark.start, -mark.end);
  });
  const std::vector<bool> autograd = autograd_lanes(marks, collected.lanes.size());
  std::vector<OpenMark> open;
  std::size_t next = 0;
  std::uint32_t lane = kNone;
  for (const Question& question : launched_kernels(collected)) {
    if (question.lane != lane) open.clear();
    lane = question.lane;
    while (next < marks.size() && marks[next].lane < lane) ++next;
    for (; next < marks.size() && marks[next].lane == lane && marks[next].start <= question.time;
         ++next) {
      while (!open.empty() && open.back().end <= marks[next].start) open.pop_back();
      const Phase outer = open.empty() ? Phase::kNone : open.back().phase;
      open.push_back({marks[next].end, phase_within(outer, marks[next].phase)});
    }
    while (!open.empty() && open.back().end <= question.time) open.pop_back();
    const Phase outside = autograd[lane] ? Phase::kBackward : Phase::kNone;
    if (const Phase phase = open.empty() ? outside : open.back().phase; phase != Phase::kNone)
      collected.spans[question.kernel].category = category_of(phase);
  }
}

}  // namespace trainscope::trace::chrome
