// Arrows and causes: what joins the spans of a Chrome trace.
#include <algorithm>

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

}  // namespace trainscope::trace::chrome
