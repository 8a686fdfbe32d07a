#include "analysis/steps/steady_steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "analysis/steps/lane_kinds.h"
#include "analysis/steps/launched_work.h"
#include "base/median.h"

namespace trainscope::analysis {
namespace {

using trace::Span;

constexpr std::string_view kMallocCall = "cudaMalloc";

// Of each step whether a host thread of its rank calls cudaMalloc in it. What is there before the
// first step, or after the last, is of none.
std::vector<bool> steps_that_allocate(const trace::Trace& trace, const RankMarks& ranks,
                                      std::size_t steps) {
  std::vector<bool> allocates(steps, false);
  const std::vector<trace::LaneKind> kinds = lane_kinds(trace);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.category != trace::Category::kHostApi ||
        kinds[span.lane] != trace::LaneKind::kHostThread)
      return;
    if (trace.name(span) != kMallocCall) return;
    const auto own = ranks.find(trace.lanes()[span.lane].rank);
    if (own == ranks.end()) return;
    const auto next = std::ranges::upper_bound(
        own->second, span.start, {}, [](const StepMark& mark) { return mark.time.start; });
    if (next == own->second.begin() || span.start >= std::prev(next)->time.end) return;
    const auto step = static_cast<std::size_t>(next - own->second.begin()) - 1;
    if (step < steps) allocates[step] = true;
  });
  return allocates;
}

// Of a recorded trace: whether its first step began with a GPU that had nothing to do, and waited
// for its first work, while most others begin with one that is still at work for the step before
// them. It is longer by that wait: where by less than a tenth, it is as good a step as others.
bool first_step_fills_gpu(const trace::Trace& trace) {
  constexpr std::size_t kEnough = 3;
  constexpr double kLeast = 0.1;
  const auto [marks, rank] = first_marks(marks_by_rank(trace));
  if (marks.size() < kEnough) return false;
  const LaunchedWork ranks(trace, {rank});
  const RankWork& launched = ranks.of(rank);
  const Nanos first = marks.front().start;
  const Nanos work = launched.begins_after(first);
  if (launched.done_after(first) > first || work == std::numeric_limits<Nanos>::max()) return false;
  std::size_t at_work = 0;
  std::vector<Nanos> lengths;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Nanos begin = marks[i].start;
    const Nanos end = i + 1 < marks.size() ? marks[i + 1].start : marks[i].end;
    lengths.push_back(launched.done_after(end) - launched.done_after(begin));
    at_work += launched.done_after(begin) > begin ? 1 : 0;
  }
  const Nanos longest = lengths.front();
  lengths.erase(lengths.begin());
  const auto usual = static_cast<double>(median(lengths));
  return 2 * at_work > lengths.size() && static_cast<double>(work - first) >= kLeast * usual &&
         static_cast<double>(longest) >= (1 + kLeast) * usual;
}

}  // namespace

std::size_t first_measured_step(const trace::Trace& trace, const program::Program* program,
                                const RankMarks& ranks, std::size_t steps, int warmup) {
  const auto warm = std::min(static_cast<std::size_t>(warmup), steps - 1);
  if (!program || program->recording.trace) {
    const trace::Trace& recorded = program ? *program->recording.trace : trace;
    return warm == 0 && steps > 1 && first_step_fills_gpu(recorded) ? 1 : warm;
  }
  if (warmup == 0) return warm;
  const std::vector<bool> allocates = steps_that_allocate(trace, ranks, steps);
  const auto steady =
      std::find(allocates.begin() + static_cast<std::ptrdiff_t>(warm), allocates.end(), false);
  return steady == allocates.end() ? warm : static_cast<std::size_t>(steady - allocates.begin());
}

}  // namespace trainscope::analysis
