#include "trace/merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace trainscope::trace {
namespace {

// The collectives of a run are numbered alike on every rank.
using Key = std::pair<std::string, std::int64_t>;  // operation, sequence

const CollectiveDetail* collective_of(const Trace& trace, const Span& span) {
  if (span.category != Category::kCollective || trace.lanes()[span.lane].kind != LaneKind::kStream)
    return nullptr;
  const Detail* detail = trace.detail(span);
  const auto* one = detail ? std::get_if<CollectiveDetail>(detail) : nullptr;
  return one && one->sequence >= 0 ? one : nullptr;
}

// All ranks need what every rank gives: none is done before the last has come.
bool ends_together(const std::string& operation) {
  return operation == "allreduce" || operation == "allgather" || operation == "reduce_scatter";
}

using Spans = std::map<Key, SpanId>;

Spans collectives_of(const Trace& trace) {
  Spans spans;
  for (SpanId id = 0; id < trace.spans().size(); ++id)
    if (const CollectiveDetail* one = collective_of(trace, trace.spans()[id]))
      spans[{one->operation, one->sequence}] = id;
  return spans;
}

Nanos median(std::vector<Nanos> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The rank that comes last to a collective, and when.
struct LastRank {
  std::size_t rank = 0;
  Nanos start = 0;
};

// Copies traces into one.
class Merger {
 public:
  explicit Merger(const std::vector<const Trace*>& ranks)
      : ranks_(ranks),
        offsets_(clock_offsets(ranks)),
        merged_(std::make_unique<Trace>(ranks.front()->origin())) {
    for (const Trace* rank : ranks) collectives_.push_back(collectives_of(*rank));
    find_last();
  }

  std::unique_ptr<Trace> merge() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add(rank);
    return std::move(merged_);
  }

 private:
  // Where the things of a rank stand in the merged trace.
  struct Places {
    std::vector<LaneId> lanes;
    std::vector<SpanId> spans;
    DetailId details = 0;
  };

  void find_last() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const auto& [key, id] : collectives_[rank]) {
        const Nanos start = ranks_[rank]->spans()[id].start - offsets_[rank];
        const auto [known, is_first] = last_.try_emplace(key, LastRank{rank, start});
        if (!is_first && start > known->second.start) known->second = {rank, start};
      }
  }

  void add(std::size_t rank) {
    const Trace& from = *ranks_[rank];
    Places places;
    places.lanes = add_lanes(from, rank);
    places.details = merged_->details().size();
    for (DetailId i = 0; i < from.details().size(); ++i) merged_->add_detail(from.details()[i]);
    add_spans(from, rank, places);
    add_rest(from, rank, places);
  }

  std::vector<LaneId> add_lanes(const Trace& from, std::size_t rank) {
    std::vector<bool> used(from.lanes().size(), rank == 0);
    for_each(from.spans(), [&](const Span& span, std::uint32_t) { used[span.lane] = true; });
    for_each(from.samples(),
             [&](const Sample& sample, std::uint32_t) { used[sample.lane] = true; });
    std::vector<LaneId> lanes(from.lanes().size(), kNone);
    for (LaneId lane = 0; lane < lanes.size(); ++lane)
      if (used[lane]) lanes[lane] = merged_->add_lane(from.lanes()[lane]);
    return lanes;
  }

  // A cause may be a span that comes later: places are known before any is written.
  void add_spans(const Trace& from, std::size_t rank, Places& places) {
    SpanId next = merged_->spans().size();
    std::vector<Nanos> waits(from.spans().size());
    for (SpanId id = 0; id < from.spans().size(); ++id) {
      waits[id] = wait_of(from, rank, from.spans()[id]);
      if (waits[id] > 0) ++next;
      places.spans.push_back(next++);
    }
    for (SpanId id = 0; id < from.spans().size(); ++id) {
      Span span = from.spans()[id];
      span.start -= offsets_[rank];
      span.lane = places.lanes[span.lane];
      span.name = merged_->intern(from.name(from.spans()[id]));
      if (span.cause_span != kNone) span.cause_span = places.spans[span.cause_span];
      if (span.detail != kNone) span.detail += places.details;
      if (span.correlation != 0) span.correlation += correlations_;
      if (waits[id] > 0) add_wait(span, waits[id]);
      merged_->add_span(span);
    }
    for_each(from.spans(), [&](const Span& span, std::uint32_t) {
      highest_ = std::max(highest_, correlations_ + span.correlation);
    });
    correlations_ = highest_;
  }

  // How long a rank's collective only waits for the last rank.
  Nanos wait_of(const Trace& from, std::size_t rank, const Span& span) const {
    const CollectiveDetail* one = collective_of(from, span);
    if (!one) return 0;
    const LastRank& last = last_.at({one->operation, one->sequence});
    if (last.rank == rank) return 0;
    return std::clamp<Nanos>(last.start - (span.start - offsets_[rank]), 0, span.duration);
  }

  void add_wait(Span& span, Nanos length) {
    Span wait = span;
    wait.duration = length;
    wait.name = merged_->intern("waits for the last rank");
    wait.category = Category::kSync;
    wait.detail = kNone;
    merged_->add_span(wait);
    span.start += length;
    span.duration -= length;
    span.cause = Cause::kPeer;
    span.cause_span = merged_->spans().size() - 1;
  }

  void add_rest(const Trace& from, std::size_t rank, const Places& places) {
    for_each(from.flows(), [&](Flow flow, std::uint32_t) {
      merged_->add_flow({places.spans[flow.from], places.spans[flow.to], flow.kind});
    });
    for_each(from.samples(), [&](Sample sample, std::uint32_t) {
      merged_->add_sample({sample.time - offsets_[rank], sample.value, places.lanes[sample.lane]});
    });
    for_each(from.steps(),
             [&](const TrainingStep& step, std::uint32_t) { merged_->add_step(step); });
    for_each(from.evaluations(),
             [&](const Evaluation& one, std::uint32_t) { merged_->add_evaluation(one); });
    for_each(from.dropped(), [&](Dropped one, std::uint32_t) {
      if (ranks_.size() > 1) one.reason += ", rank " + std::to_string(rank);
      merged_->add_dropped(std::move(one));
    });
    add_allocator_events(from, rank);
  }

  void add_allocator_events(const Trace& from, std::size_t rank) {
    std::uint32_t most = segments_;
    for_each(from.allocator_events(), [&](AllocatorEvent event, std::uint32_t) {
      event.time -= offsets_[rank];
      if (event.owner != kNone) event.owner = merged_->intern(from.name(event.owner));
      if (event.role != kNone) event.role = merged_->intern(from.name(event.role));
      if (event.segment != kNone) {
        event.segment += segments_;
        most = std::max(most, event.segment + 1);
      }
      merged_->add_allocator_event(event);
    });
    segments_ = most;
  }

  const std::vector<const Trace*>& ranks_;
  std::vector<Nanos> offsets_;
  std::unique_ptr<Trace> merged_;
  std::vector<Spans> collectives_;
  std::map<Key, LastRank> last_;
  std::uint32_t correlations_ = 0;  // of the ranks before
  std::uint32_t highest_ = 0;
  std::uint32_t segments_ = 0;
};

}  // namespace

std::vector<Nanos> clock_offsets(const std::vector<const Trace*>& ranks) {
  std::vector<Nanos> offsets;
  const Spans first = collectives_of(*ranks.front());
  for (const Trace* rank : ranks) {
    std::vector<Nanos> apart;
    for (const auto& [key, id] : collectives_of(*rank))
      if (const auto same = first.find(key); same != first.end() && ends_together(key.first))
        apart.push_back(rank->spans()[id].end() - ranks.front()->spans()[same->second].end());
    offsets.push_back(rank == ranks.front() ? 0 : median(std::move(apart)));
  }
  return offsets;
}

std::unique_ptr<Trace> merge_ranks(const std::vector<const Trace*>& ranks) {
  return Merger(ranks).merge();
}

}  // namespace trainscope::trace
