#include "analysis/step_marks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/step_mark.h"
#include "program/marks.h"

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

std::vector<Interval> validations(const trace::Trace& trace, const StepMarks& steps) {
  std::vector<Interval> found;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (!is_host_mark(trace, span) || trace.lanes()[span.lane].rank != steps.rank) return;
    if (std::string_view(trace.name(span)) != program::kValidationMark) return;
    const auto next = std::ranges::upper_bound(steps.marks, span.start, {}, &Interval::start);
    const bool inside = next != steps.marks.begin() && span.start < std::prev(next)->end;
    if (!inside) found.push_back({span.start, span.end()});
  });
  std::ranges::sort(found, {}, &Interval::start);
  return found;
}

StepRun undisturbed(const std::vector<Interval>& marks, std::size_t first,
                    const std::vector<Interval>& validations) {
  StepRun longest{first, first}, now{first, first};
  auto next = validations.begin();
  for (std::size_t i = first; i < marks.size(); ++i) {
    bool disturbed = false;
    for (; next != validations.end() && next->start < marks[i].start; ++next)
      disturbed = i > first && next->start >= marks[i - 1].end;
    if (disturbed) now.first = i;
    now.end = i + 1;
    if (now.end - now.first > longest.end - longest.first) longest = now;
  }
  return longest;
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
