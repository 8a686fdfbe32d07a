#include "analysis/caveats/process_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace trainscope::analysis {
namespace {

// What is at work on each GPU within the window.
std::map<std::int32_t, IntervalSet> busy_by_gpu(const Measured& measured) {
  std::map<std::int32_t, std::vector<Interval>> intervals;
  trace::for_each(measured.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = measured.trace->lanes()[span.lane];
    if (lane.kind != trace::LaneKind::kStream || !trace::is_gpu_work(span.category)) return;
    const Interval clipped{std::max(span.start, measured.window.start),
                           std::min(span.end(), measured.window.end)};
    std::vector<Interval>& of_gpu = intervals[lane.device];
    if (clipped.start < clipped.end) of_gpu.push_back(clipped);
  });
  std::map<std::int32_t, IntervalSet> busy;
  for (auto& [gpu, of_gpu] : intervals) busy[gpu] = IntervalSet(std::move(of_gpu));
  return busy;
}

}  // namespace

std::string process_caveat(const Measured& measured) {
  if (measured.trace->origin().kind != trace::OriginKind::kImported || measured.rank >= 0)
    return "";
  const std::map<std::int32_t, IntervalSet> busy = busy_by_gpu(measured);
  const auto whole = static_cast<double>(measured.window.end - measured.window.start);
  if (busy.size() < 2 || whole <= 0) return "";
  const auto least =
      std::ranges::min_element(busy, {}, [](const auto& one) { return one.second.length(); });
  return fmt::format(
      "Times are those of all {} GPUs together; the one that does least, GPU {}, is at work for "
      "{} % of them",
      busy.size(), least->first,
      std::lround(100 * static_cast<double>(least->second.length()) / whole));
}

}  // namespace trainscope::analysis
