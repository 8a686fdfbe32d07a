#include "analysis/launched_work.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "analysis/by_correlation.h"
#include "analysis/lane_kinds.h"
#include "trace/ranks.h"

namespace trainscope::analysis {
namespace {

using trace::LaneKind;
using trace::Span;

constexpr Nanos kBeforeAll = std::numeric_limits<Nanos>::min();
constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

}  // namespace

LaunchedWork::LaunchedWork(const trace::Trace& trace, std::int32_t rank)
    : first_of_lane_(trace.lanes().size(), kNever) {
  const std::vector<LaneKind> kinds = lane_kinds(trace);
  const bool one_of_several = trace::ranks_of(trace).size() > 1;
  const auto is_own = [&](const Span& span) {
    return !one_of_several || trace.lanes()[span.lane].rank == rank;
  };
  ByCorrelation<Nanos> calls(trace, kBeforeAll);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.correlation != 0 && kinds[span.lane] == LaneKind::kHostThread && is_own(span))
      calls.add(span.correlation, span.start);
  });
  std::vector<trace::SpanId> without_call;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId id) {
    if (!trace::is_gpu_work(span.category)) return;
    if (const Nanos* call = calls.find(span.correlation)) {
      launched_.push_back({*call, span.end(), span.start});
      first_of_lane_[span.lane] = std::min(first_of_lane_[span.lane], span.start);
    } else if (kinds[span.lane] == LaneKind::kStream && is_own(span)) {
      without_call.push_back(id);
    }
  });
  if (!launched_.empty()) add_earlier(trace, without_call);
  const auto order = [](const Launched& one) { return std::pair(one.call, one.end); };
  if (!std::ranges::is_sorted(launched_, {}, order)) std::ranges::sort(launched_, {}, order);
  for (std::size_t i = 1; i < launched_.size(); ++i)
    launched_[i].end = std::max(launched_[i].end, launched_[i - 1].end);
  for (std::size_t i = launched_.size(); i-- > 1;)
    launched_[i - 1].start = std::min(launched_[i - 1].start, launched_[i].start);
}

void LaunchedWork::add_earlier(const trace::Trace& trace,
                               const std::vector<trace::SpanId>& without_call) {
  const Nanos first_of_all = std::ranges::min(first_of_lane_);
  const Nanos last_of_all = std::ranges::max(launched_, {}, &Launched::start).start;
  std::set<trace::NameId> later;
  for (const trace::SpanId id : without_call) {
    const Span& span = trace.spans()[id];
    const Nanos first = first_of_lane_[span.lane];
    if (span.start < (first == kNever ? first_of_all : first))
      earlier_.push_back(id);
    else if (span.start < last_of_all)
      later.insert(span.name);
  }
  std::erase_if(earlier_, [&](trace::SpanId id) { return later.contains(trace.spans()[id].name); });
  for (const trace::SpanId id : earlier_)
    launched_.push_back({kBeforeAll, trace.spans()[id].end(), trace.spans()[id].start});
}

Nanos LaunchedWork::done_after(Nanos time) const {
  const auto next = std::ranges::lower_bound(launched_, time, {}, &Launched::call);
  return next == launched_.begin() ? time : std::max(time, std::prev(next)->end);
}

Nanos LaunchedWork::begins_after(Nanos time) const {
  const auto next = std::ranges::lower_bound(launched_, time, {}, &Launched::call);
  return next == launched_.end() ? kNever : next->start;
}

}  // namespace trainscope::analysis
