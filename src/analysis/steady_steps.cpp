#include "analysis/steady_steps.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/lane_kinds.h"

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
    const auto next = std::ranges::upper_bound(own->second, span.start, {}, &Interval::start);
    if (next == own->second.begin() || span.start >= std::prev(next)->end) return;
    const auto step = static_cast<std::size_t>(next - own->second.begin()) - 1;
    if (step < steps) allocates[step] = true;
  });
  return allocates;
}

}  // namespace

std::size_t first_measured_step(const trace::Trace& trace, const program::Program* program,
                                const RankMarks& ranks, std::size_t steps, int warmup) {
  const auto warm = std::min(static_cast<std::size_t>(warmup), steps - 1);
  if (!program || program->recording.trace || warmup == 0) return warm;
  const std::vector<bool> allocates = steps_that_allocate(trace, ranks, steps);
  const auto steady =
      std::find(allocates.begin() + static_cast<std::ptrdiff_t>(warm), allocates.end(), false);
  return steady == allocates.end() ? warm : static_cast<std::size_t>(steady - allocates.begin());
}

}  // namespace trainscope::analysis
