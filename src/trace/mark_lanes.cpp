#include "trace/mark_lanes.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "trace/step_mark.h"

namespace trainscope::trace {
namespace {

// A lane's marks in the order of their starts: steps, and what lies between them.
struct Marks {
  std::vector<const Span*> steps;
  std::vector<const Span*> between;
  std::size_t within = 0;  // marks in steps
};

Marks marks_of(const Trace& trace, const LaneIndex& lane) {
  const auto start = [](const Span* span) { return span->start; };
  Marks marks;
  std::vector<const Span*> others;
  for (const Row& row : lane.rows)
    for (const SpanId id : row.spans) {
      const Span& span = trace.spans()[id];
      const bool is_step = std::string_view(trace.name(span)).starts_with(kStepMark);
      (is_step ? marks.steps : others).push_back(&span);
    }
  std::ranges::sort(marks.steps, {}, start);
  std::ranges::sort(others, {}, start);
  for (const Span* span : others) {
    const auto next = std::ranges::upper_bound(marks.steps, span->start, {}, start);
    const bool is_within = next != marks.steps.begin() && span->start < (*std::prev(next))->end();
    if (!is_within) marks.between.push_back(span);
    marks.within += is_within ? 1 : 0;
  }
  return marks;
}

bool is_near(Nanos a, Nanos b, Nanos length) {
  constexpr Nanos kShare = 100;
  return std::max(a, b) - std::min(a, b) <= length / kShare;
}

bool are_near(const Span* one, const Span* other) {
  return one->name == other->name && is_near(one->start, other->start, one->duration) &&
         is_near(one->end(), other->end(), one->duration);
}

bool repeats(const Marks& lane, const Marks& first) {
  return lane.within == 0 && std::ranges::equal(lane.steps, first.steps, are_near) &&
         (lane.between.empty() || std::ranges::equal(lane.between, first.between, are_near));
}

}  // namespace

std::vector<LaneId> repeated_mark_lanes(const Trace& trace, const TraceIndex& index) {
  std::vector<LaneId> repeated;
  const LaneIndex* first = nullptr;
  Marks marks;
  for (const LaneIndex& lane : index.lanes) {
    if (trace.lanes()[lane.lane].kind != LaneKind::kSteps || lane.span_count == 0) continue;
    if (!first) {
      first = &lane;
      marks = marks_of(trace, lane);
    } else if (repeats(marks_of(trace, lane), marks)) {
      repeated.push_back(lane.lane);
    }
  }
  return repeated;
}

}  // namespace trainscope::trace
