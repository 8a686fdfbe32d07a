#include "analysis/steps/finished_steps.h"

#include <algorithm>
#include <limits>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/lane_kinds.h"

namespace trainscope::analysis {
namespace {

using trace::LaneKind;
using trace::Span;

struct Steps {
  std::size_t ranks = 0;     // that mark steps, or would
  bool all_have_one = true;  // each of them has finished one at least
};

Steps steps_of(const RankMarks& ranks, const trace::Trace& trace) {
  Steps steps;
  trace::for_each(trace.lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    if (lane.kind != LaneKind::kSteps) return;
    ++steps.ranks;
    steps.all_have_one = steps.all_have_one && ranks.contains(lane.rank);
  });
  return steps;
}

bool has_all(const RankMarks& ranks, std::size_t wanted) {
  std::size_t marks = 0;
  for (const auto& [rank, of_rank] : ranks) marks += of_rank.size();
  return marks >= wanted;
}

// When a host first called for what never ran; past all times where there is no such thing.
Nanos first_call_in_vain(const trace::Trace& trace) {
  ByCorrelation<char> ran(trace, 0);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (trace::is_gpu_work(span.category)) ran.set(span.correlation, 1);
  });
  Nanos first = std::numeric_limits<Nanos>::max();
  const std::vector<LaneKind> kinds = lane_kinds(trace);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (kinds[span.lane] == LaneKind::kHostThread && is_joined_call(span) &&
        !ran.find(span.correlation))
      first = std::min(first, span.start);
  });
  return first;
}

}  // namespace

void drop_unfinished(RankMarks& ranks, const trace::Trace& trace, const program::Program* program) {
  if (!program || program->recording.trace || trace::is_measured(trace) || ranks.empty()) return;
  const Steps steps = steps_of(ranks, trace);
  if (!steps.all_have_one) return ranks.clear();
  if (has_all(ranks, steps.ranks * static_cast<std::size_t>(std::max(program->steps, 0)))) return;
  const Nanos in_vain = first_call_in_vain(trace);
  for (auto& [rank, marks] : ranks)
    std::erase_if(marks, [&](const StepMark& mark) { return mark.time.end > in_vain; });
}

std::size_t finished_steps(const trace::Trace& trace, const program::Program* program) {
  RankMarks ranks = marks_by_rank(trace);
  drop_unfinished(ranks, trace, program);
  return ranks.empty() ? 0 : ranks.begin()->second.size();
}

}  // namespace trainscope::analysis
