#include "analysis/steps/launched_work.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/lane_kinds.h"
#include "base/time_ends.h"
#include "trace/ranks.h"

namespace trainscope::analysis {
namespace {

using trace::LaneKind;
using trace::Span;

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

struct Call {
  Nanos start = 0;
  std::size_t place = 0;
  bool operator==(const Call&) const = default;
};

}  // namespace

LaunchedWork::LaunchedWork(const trace::Trace& trace, const std::vector<std::int32_t>& ranks)
    : works_(ranks.size()) {
  for (const std::int32_t rank : ranks) places_.emplace(rank, places_.size());
  const std::vector<LaneKind> kinds = lane_kinds(trace);
  const std::vector<std::size_t> places = places_of_lanes(trace);
  ByCorrelation<Call> calls(trace, {kBeforeAll, 0});
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.correlation != 0 && kinds[span.lane] == LaneKind::kHostThread &&
        places[span.lane] != kNowhere)
      calls.add(span.correlation, {span.start, places[span.lane]});
  });
  std::vector<Nanos> first_of_lane(trace.lanes().size(), kEndless);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId id) {
    if (!trace::is_gpu_work(span.category)) return;
    if (const Call* call = calls.find(span.correlation)) {
      works_[call->place].launched_.push_back({call->start, span.end(), span.start});
      first_of_lane[span.lane] = std::min(first_of_lane[span.lane], span.start);
    } else if (kinds[span.lane] == LaneKind::kStream && places[span.lane] != kNowhere) {
      works_[places[span.lane]].earlier_.push_back(id);
    }
  });
  for (RankWork& work : works_) {
    work.add_earlier(trace, first_of_lane);
    work.put_in_order();
  }
}

std::vector<std::size_t> LaunchedWork::places_of_lanes(const trace::Trace& trace) const {
  const bool is_lone = trace::ranks_of(trace).size() <= 1;
  std::vector<std::size_t> places;
  trace::for_each(trace.lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    const auto own = is_lone ? places_.begin() : places_.find(lane.rank);
    places.push_back(own == places_.end() ? kNowhere : own->second);
  });
  return places;
}

void RankWork::add_earlier(const trace::Trace& trace, const std::vector<Nanos>& first_of_lane) {
  const std::vector<trace::SpanId> without_call = std::exchange(earlier_, {});
  if (launched_.empty()) return;
  const Nanos first_of_all = std::ranges::min(launched_, {}, &Launched::start).start;
  const Nanos last_of_all = std::ranges::max(launched_, {}, &Launched::start).start;
  std::set<trace::NameId> later;
  for (const trace::SpanId id : without_call) {
    const Span& span = trace.spans()[id];
    const Nanos first = first_of_lane[span.lane];
    if (span.start < (first == kEndless ? first_of_all : first))
      earlier_.push_back(id);
    else if (span.start < last_of_all)
      later.insert(span.name);
  }
  std::erase_if(earlier_, [&](trace::SpanId id) { return later.contains(trace.spans()[id].name); });
  for (const trace::SpanId id : earlier_)
    launched_.push_back({kBeforeAll, trace.spans()[id].end(), trace.spans()[id].start});
}

void RankWork::put_in_order() {
  const auto order = [](const Launched& one) { return std::pair(one.call, one.end); };
  if (!std::ranges::is_sorted(launched_, {}, order)) std::ranges::sort(launched_, {}, order);
  for (std::size_t i = 1; i < launched_.size(); ++i)
    launched_[i].end = std::max(launched_[i].end, launched_[i - 1].end);
  for (std::size_t i = launched_.size(); i-- > 1;)
    launched_[i - 1].start = std::min(launched_[i - 1].start, launched_[i].start);
}

Nanos RankWork::done_after(Nanos time) const {
  const auto next = std::ranges::lower_bound(launched_, time, {}, &Launched::call);
  return next == launched_.begin() ? time : std::max(time, std::prev(next)->end);
}

Nanos RankWork::begins_after(Nanos time) const {
  const auto next = std::ranges::lower_bound(launched_, time, {}, &Launched::call);
  return next == launched_.end() ? kEndless : next->start;
}

}  // namespace trainscope::analysis
