#include "trace/merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "trace/merge_origin.h"
#include "trace/moved.h"
#include "trace/rank_clocks.h"
#include "trace/same_collectives.h"

namespace trainscope::trace {
namespace {

int world_of(const std::vector<const Trace*>& ranks, int world) {
  return std::max(world, static_cast<int>(ranks.size()));
}

// The rank that comes last to a collective, and when; of how many that are here.
struct LastRank {
  std::size_t rank = 0;
  Nanos start = 0;
  int count = 0;
};

// What of a rank's collective is no work.
struct Wait {
  Nanos length = 0;  // 0: it did not wait
  int rank = 0;      // the one that it waited for
};

// Copies traces into one.
class Merger {
 public:
  Merger(const std::vector<const Trace*>& ranks, const Merging& merging)
      : ranks_(ranks),
        merging_(merging),
        offsets_(ranks.size()),
        merged_(std::make_unique<Trace>(ranks.front()->origin())) {
    const int world = world_of(ranks, merging.world);
    for (std::size_t i = merging_.ranks.size(); i < ranks.size(); ++i)
      merging_.ranks.push_back(static_cast<int>(i));
    merging_.further.resize(ranks.size());
    Origin origin = merged_->origin();
    origin.detail += notes_of_others(ranks, merging_.ranks);
    merged_->set_origin(std::move(origin));
    if (merging.parts) return;
    offsets_ = clock_offsets(ranks, world).later;
    find_last(same_collectives(ranks, world));
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

  // Which rank is last in each collective, and so how long the others wait: at least, where a rank
  // takes part whose trace is missing.
  void find_last(const std::vector<Collectives>& collectives) {
    std::map<CollectiveKey, LastRank> last;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const auto& [key, id] : collectives[rank]) {
        const Nanos start = ranks_[rank]->spans()[id].start - offsets_[rank];
        const auto [known, is_first] = last.try_emplace(key, LastRank{rank, start, 0});
        LastRank& one = known->second;
        ++one.count;
        if (start > one.start) one = {rank, start, one.count};
      }
    waits_.resize(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const auto& [key, id] : collectives[rank])
        if (const LastRank& one = last.at(key);
            is_joined(key, *collective_of(*ranks_[rank], ranks_[rank]->spans()[id]), one.count))
          if (const Nanos wait = wait_of(rank, ranks_[rank]->spans()[id], key, one))
            waits_[rank][id] = {wait, merging_.ranks[one.rank]};
  }

  // How long a rank's collective only waits for the last rank. Of one that is over before the last
  // comes, such as the root's of a broadcast, nothing is known.
  Nanos wait_of(std::size_t rank, const Span& span, const CollectiveKey& key,
                const LastRank& last) const {
    if (last.rank == rank) return 0;
    const Nanos wait = std::max<Nanos>(last.start - (span.start - offsets_[rank]), 0);
    if (wait <= span.duration) return wait;
    return ends_together(key.operation) ? span.duration : 0;
  }

  void add(std::size_t rank) {
    const Trace& from = *ranks_[rank];
    Places places;
    places.lanes = add_lanes(from, rank);
    places.details = merged_->details().size();
    for (DetailId i = 0; i < from.details().size(); ++i)
      merged_->add_detail(moved(from.details()[i], merging_.further[rank]));
    add_spans(from, rank, places);
    add_rest(from, rank, places);
  }

  std::vector<LaneId> add_lanes(const Trace& from, std::size_t rank) {
    std::vector<bool> used(from.lanes().size(), rank == 0 || merging_.parts);
    for_each(from.spans(), [&](const Span& span, std::uint32_t) { used[span.lane] = true; });
    for_each(from.samples(),
             [&](const Sample& sample, std::uint32_t) { used[sample.lane] = true; });
    std::vector<LaneId> lanes(from.lanes().size(), kNone);
    for (LaneId lane = 0; lane < lanes.size(); ++lane)
      if (used[lane])
        lanes[lane] = merged_->add_lane(
            with_rank(moved(from.lanes()[lane], merging_.further[rank]), merging_.ranks[rank]));
    return lanes;
  }

  // Lanes of the host stand under one heading, so each says whose it is.
  Lane with_rank(Lane lane, int rank) const {
    const std::string whose = ", rank " + std::to_string(rank);
    if (ranks_.size() > 1 && lane.group == "host" && !lane.name.ends_with(whose))
      lane.name += whose;
    return lane;
  }

  // A cause may be a span that comes later: places are known before any is written.
  void add_spans(const Trace& from, std::size_t rank, Places& places) {
    SpanId next = merged_->spans().size();
    std::vector<Wait> waits(from.spans().size());
    if (!waits_.empty())
      for (const auto& [id, wait] : waits_[rank]) waits[id] = wait;
    for (SpanId id = 0; id < from.spans().size(); ++id) {
      if (waits[id].length > 0) ++next;
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
      if (waits[id].length > 0) add_wait(span, waits[id]);
      merged_->add_span(span);
    }
    for_each(from.spans(), [&](const Span& span, std::uint32_t) {
      highest_ = std::max(highest_, correlations_ + span.correlation);
    });
    correlations_ = highest_;
  }

  void add_wait(Span& span, const Wait& of) {
    Span wait = span;
    wait.duration = of.length;
    wait.name = merged_->intern("waits for rank " + std::to_string(of.rank));
    wait.category = Category::kSync;
    wait.cause = Cause::kPeer;
    wait.detail = kNone;
    merged_->add_span(wait);
    span.start += of.length;
    span.duration -= of.length;
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
    for_each(from.steps(), [&](TrainingStep step, std::uint32_t) {
      step.time -= offsets_[rank];
      merged_->add_step(step);
    });
    for_each(from.evaluations(), [&](Evaluation one, std::uint32_t) {
      one.time -= offsets_[rank];
      merged_->add_evaluation(one);
    });
    // Parts of one run say each what all of it has lost.
    if (!merging_.parts || rank == 0) add_dropped(from, rank);
    add_allocator_events(from, rank);
  }

  void add_dropped(const Trace& from, std::size_t rank) {
    for_each(from.dropped(), [&](Dropped one, std::uint32_t) {
      if (ranks_.size() > 1 && !merging_.parts)
        one.reason += ", rank " + std::to_string(merging_.ranks[rank]);
      merged_->add_dropped(std::move(one));
    });
  }

  void add_allocator_events(const Trace& from, std::size_t rank) {
    std::uint32_t most = segments_;
    for_each(from.allocator_events(), [&](AllocatorEvent event, std::uint32_t) {
      event.time -= offsets_[rank];
      event.device = moved(event.device, merging_.further[rank]);
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
  Merging merging_;
  std::vector<Nanos> offsets_;
  std::unique_ptr<Trace> merged_;
  std::vector<std::map<SpanId, Wait>> waits_;  // by rank; empty: none is known
  std::uint32_t correlations_ = 0;             // of the ranks before
  std::uint32_t highest_ = 0;
  std::uint32_t segments_ = 0;
};

}  // namespace

std::unique_ptr<Trace> merge_ranks(const std::vector<const Trace*>& ranks, const Merging& merging) {
  return Merger(ranks, merging).merge();
}

}  // namespace trainscope::trace
