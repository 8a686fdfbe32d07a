#include "analysis/causes/rank_times.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trainscope::analysis {
namespace {

// By GPU; several of its streams may wait at once.
std::map<std::int32_t, IntervalSet> waits_of(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  std::map<std::int32_t, std::vector<Interval>> waits;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (!is_peer_wait(span)) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    const Interval window = measured.window_of(lane.rank);
    const Nanos start = std::max(span.start, window.start), end = std::min(span.end(), window.end);
    if (start < end) waits[lane.device].push_back({start, end});
  });
  std::map<std::int32_t, IntervalSet> sets;
  for (auto& [gpu, intervals] : waits) sets.emplace(gpu, IntervalSet(std::move(intervals)));
  return sets;
}

}  // namespace

std::vector<RankTimes> rank_times(const Measured& measured) {
  std::vector<RankTimes> ranks;
  const std::map<std::int32_t, std::int32_t> gpus = gpus_of_ranks(*measured.trace);
  const std::map<std::int32_t, IntervalSet> waits = waits_of(measured);
  if (gpus.size() < 2 || waits.empty()) return ranks;
  for (const auto& [rank, gpu] : gpus) {
    const int steps = measured.steps_of(rank);
    if (steps == 0) continue;
    const auto a_step = [&](Nanos time) { return static_cast<double>(time) / steps; };
    const IntervalSet busy = gpu_busy(of_gpu(measured, rank, gpu));
    const auto found = waits.find(gpu);
    const IntervalSet wait = found == waits.end() ? IntervalSet() : found->second;
    ranks.push_back(
        {rank, a_step(busy.length()), a_step(wait.length()), a_step(wait.without(busy).length())});
  }
  return ranks;
}

}  // namespace trainscope::analysis
