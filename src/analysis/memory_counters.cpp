#include "analysis/memory_counters.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace trainscope::analysis {
namespace {

using trace::Lane;
using trace::LaneKind;

using Gpu = std::tuple<std::int32_t, std::int32_t>;  // rank and device

struct Count {
  std::vector<trace::Sample> allocated, reserved;
};

std::map<Gpu, Count> counts_of(const trace::Trace& trace) {
  std::map<Gpu, Count> counts;
  std::vector<std::vector<trace::Sample>*> counted(trace.lanes().size(), nullptr);
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i) {
    const Lane& lane = trace.lanes()[i];
    const MemoryCount what = counted_by(lane);
    if (what == MemoryCount::kNeither) continue;
    Count& count = counts[{lane.rank, lane.device}];
    counted[i] = what == MemoryCount::kAllocated ? &count.allocated : &count.reserved;
  }
  for (std::uint32_t i = 0, n = trace.samples().size(); i < n; ++i)
    if (auto* samples = counted[trace.samples()[i].lane]) samples->push_back(trace.samples()[i]);
  for (auto& [gpu, count] : counts)
    for (auto* samples : {&count.allocated, &count.reserved})
      if (!std::ranges::is_sorted(*samples, {}, &trace::Sample::time))
        std::ranges::stable_sort(*samples, {}, &trace::Sample::time);
  return counts;
}

// The first of the largest.
const trace::Sample* peak(const std::vector<trace::Sample>& samples) {
  const auto most = std::ranges::max_element(samples, {}, &trace::Sample::value);
  return most == samples.end() ? nullptr : &*most;
}

std::optional<double> value_at(const std::vector<trace::Sample>& samples, Nanos time) {
  const auto after = std::ranges::upper_bound(samples, time, {}, &trace::Sample::time);
  return after == samples.begin() ? std::nullopt : std::optional(std::prev(after)->value);
}

}  // namespace

MemoryCount counted_by(const Lane& lane) {
  const std::string_view name = lane.name;
  if (lane.kind == LaneKind::kMemory)
    return name.starts_with("reserved") ? MemoryCount::kReserved : MemoryCount::kAllocated;
  if (lane.kind != LaneKind::kCounter || lane.device < 0) return MemoryCount::kNeither;
  if (name.ends_with(" memory allocated")) return MemoryCount::kAllocated;
  return name.ends_with(" memory reserved") ? MemoryCount::kReserved : MemoryCount::kNeither;
}

MemoryPeaks memory_peaks(const trace::Trace& trace) {
  MemoryPeaks peaks;
  for (const auto& [gpu, count] : counts_of(trace)) {
    if (const trace::Sample* most = peak(count.reserved))
      peaks.reserved = std::max(peaks.reserved.value_or(0), most->value);
    const trace::Sample* most = peak(count.allocated);
    if (most) {
      peaks.least_allocated = std::min(peaks.least_allocated.value_or(most->value), most->value);
      ++peaks.gpus;
    }
    if (!most || (peaks.allocated && *peaks.allocated >= most->value)) continue;
    peaks.allocated = most->value;
    const std::optional<double> reserved = value_at(count.reserved, most->time);
    peaks.fragmentation =
        reserved && *reserved > 0 ? std::optional(1 - most->value / *reserved) : std::nullopt;
  }
  return peaks;
}

std::optional<double> alloc_retries(const trace::Trace& trace) {
  bool counted = false;
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    counted |= trace.lanes()[i].kind == LaneKind::kMemory;
  if (!counted || trace.allocator_events().empty()) return std::nullopt;
  double retries = 0;
  for (std::uint32_t i = 0, n = trace.allocator_events().size(); i < n; ++i)
    if (trace.allocator_events()[i].action == trace::AllocatorAction::kRetry) ++retries;
  return retries;
}

}  // namespace trainscope::analysis
