#include "analysis/step_marks.h"

#include <algorithm>
#include <utility>

#include "analysis/step_mark.h"

namespace trainscope::analysis {

using trace::Span;

RankMarks marks_by_rank(const trace::Trace& trace) {
  std::map<std::int32_t, std::map<trace::LaneId, std::vector<Interval>>> by_lane;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (is_step_mark(trace, span))
      by_lane[trace.lanes()[span.lane].rank][span.lane].push_back({span.start, span.end()});
  });
  RankMarks found;
  for (auto& [rank, lanes] : by_lane) {
    const auto most =
        std::ranges::max_element(lanes, {}, [](const auto& lane) { return lane.second.size(); });
    found[rank] = std::move(most->second);
    std::ranges::sort(found[rank], {}, &Interval::start);
  }
  return found;
}

StepMarks first_marks(const RankMarks& ranks) {
  if (ranks.empty()) return {};
  return {ranks.begin()->second, ranks.begin()->first};
}

RankMarks marks_within(RankMarks ranks, const std::vector<Interval>& measured) {
  const auto is_outside = [&](const Interval& mark) {
    const Nanos middle = mark.start + (mark.end - mark.start) / 2;
    return middle < measured.front().start || middle >= measured.back().end;
  };
  if (measured.empty()) ranks.clear();
  for (auto& [rank, marks] : ranks) std::erase_if(marks, is_outside);
  return ranks;
}

}  // namespace trainscope::analysis
