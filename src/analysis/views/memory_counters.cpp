#include "analysis/views/memory_counters.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace trainscope::analysis {
namespace {

using trace::Lane;
using trace::LaneKind;

using Gpu = std::tuple<std::int32_t, std::int32_t>;  // rank and device

// Of millions of samples in order of time only those are kept that can matter: where a count
// changes, or, of one of which only the peak is asked, where it is higher than ever before.
class Samples {
 public:
  explicit Samples(bool only_peak) : only_peak_(only_peak) {}

  void take(const trace::Sample& sample) {
    ordered_ &= kept_.empty() || last_ <= sample.time;
    last_ = sample.time;
    const bool matters = kept_.empty() || (only_peak_ ? sample.value > kept_.back().value
                                                      : sample.value != kept_.back().value);
    if (matters) kept_.push_back(sample);
  }
  bool ordered() const { return ordered_; }

  // All of them, in any order.
  void replace(std::vector<trace::Sample> all) {
    std::ranges::stable_sort(all, {}, &trace::Sample::time);
    kept_ = std::move(all);
  }

  // The first of the largest.
  const trace::Sample* peak() const {
    const auto most = std::ranges::max_element(kept_, {}, &trace::Sample::value);
    return most == kept_.end() ? nullptr : &*most;
  }

  std::optional<double> value_at(Nanos time) const {
    const auto after = std::ranges::upper_bound(kept_, time, {}, &trace::Sample::time);
    return after == kept_.begin() ? std::nullopt : std::optional(std::prev(after)->value);
  }

 private:
  bool only_peak_;
  bool ordered_ = true;
  Nanos last_ = 0;
  std::vector<trace::Sample> kept_;
};

struct Count {
  Samples allocated{true}, reserved{false};
};

// Rare: a file may hold its samples in any order.
void take_in_any_order(const trace::Trace& trace, const std::vector<Samples*>& counted,
                       Samples& samples) {
  std::vector<trace::Sample> all;
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    if (counted[sample.lane] == &samples) all.push_back(sample);
  });
  samples.replace(std::move(all));
}

std::map<Gpu, Count> counts_of(const trace::Trace& trace) {
  std::map<Gpu, Count> counts;
  std::vector<Samples*> counted(trace.lanes().size(), nullptr);
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i) {
    const Lane& lane = trace.lanes()[i];
    const MemoryCount what = counted_by(lane);
    if (what != MemoryCount::kAllocated && what != MemoryCount::kReserved) continue;
    Count& count = counts[{lane.rank, lane.device}];
    counted[i] = what == MemoryCount::kAllocated ? &count.allocated : &count.reserved;
  }
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    if (Samples* samples = counted[sample.lane]) samples->take(sample);
  });
  for (auto& [gpu, count] : counts)
    for (Samples* samples : {&count.allocated, &count.reserved})
      if (!samples->ordered()) take_in_any_order(trace, counted, *samples);
  return counts;
}

}  // namespace

MemoryCount counted_by(const Lane& lane) {
  const std::string_view name = lane.name;
  if (lane.kind == LaneKind::kMemory)
    return name.starts_with("reserved") ? MemoryCount::kReserved : MemoryCount::kAllocated;
  if (lane.kind != LaneKind::kCounter || lane.device < 0) return MemoryCount::kNeither;
  if (name.ends_with(" memory allocated")) return MemoryCount::kAllocated;
  if (name.ends_with(" memory above its least")) return MemoryCount::kAboveLeast;
  return name.ends_with(" memory reserved") ? MemoryCount::kReserved : MemoryCount::kNeither;
}

std::vector<MemoryGpu> memory_gpus(const trace::Trace& trace) {
  std::map<Gpu, MemoryGpu> gpus;
  std::vector<MemoryGpu*> counted(trace.lanes().size(), nullptr);
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i) {
    const Lane& lane = trace.lanes()[i];
    if (counted_by(lane) != MemoryCount::kAllocated) continue;
    const auto [place, is_new] = gpus.try_emplace({lane.rank, lane.device});
    if (is_new) place->second = {lane.rank, lane.device, lane.group, 0};
    counted[i] = &place->second;
  }
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    if (MemoryGpu* gpu = counted[sample.lane]) gpu->peak = std::max(gpu->peak, sample.value);
  });
  std::vector<MemoryGpu> all;
  std::map<std::string, int> names;
  for (const auto& [place, gpu] : gpus) ++names[gpu.name];
  for (auto& [place, gpu] : gpus) {
    if (gpu.peak <= 0) continue;
    if (names[gpu.name] > 1) gpu.name += ", rank " + std::to_string(gpu.rank);
    all.push_back(std::move(gpu));
  }
  return all;
}

const MemoryGpu* fullest(const std::vector<MemoryGpu>& gpus) {
  const auto most = std::ranges::max_element(gpus, {}, &MemoryGpu::peak);
  return most == gpus.end() ? nullptr : &*most;
}

MemoryPeaks memory_peaks(const trace::Trace& trace) {
  MemoryPeaks peaks;
  for (const auto& [gpu, count] : counts_of(trace)) {
    if (const trace::Sample* most = count.reserved.peak())
      peaks.reserved = std::max(peaks.reserved.value_or(0), most->value);
    const trace::Sample* most = count.allocated.peak();
    if (most) {
      peaks.least_allocated = std::min(peaks.least_allocated.value_or(most->value), most->value);
      ++peaks.gpus;
    }
    if (!most || (peaks.allocated && *peaks.allocated >= most->value)) continue;
    peaks.allocated = most->value;
    const std::optional<double> reserved = count.reserved.value_at(most->time);
    peaks.fragmentation =
        reserved && *reserved > 0 ? std::optional(1 - most->value / *reserved) : std::nullopt;
  }
  return peaks;
}

namespace {

// A counter within a time, its samples in any order.
struct Range {
  std::optional<trace::Sample> before;  // the last, whose value holds when the time begins
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();

  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

bool tells_a_rise(const Lane& lane) {
  const MemoryCount what = counted_by(lane);
  return what == MemoryCount::kAllocated || what == MemoryCount::kAboveLeast;
}

}  // namespace

std::optional<double> memory_rise(const trace::Trace& trace, Nanos from, Nanos to) {
  std::map<trace::LaneId, Range> ranges;
  for (trace::LaneId id = 0; id < trace.lanes().size(); ++id)
    if (tells_a_rise(trace.lanes()[id])) ranges[id];
  if (ranges.empty()) return std::nullopt;
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    const auto found = ranges.find(sample.lane);
    if (found == ranges.end() || sample.time >= to) return;
    std::optional<trace::Sample>& before = found->second.before;
    if (sample.time >= from)
      found->second.include(sample.value);
    else if (!before || before->time <= sample.time)
      before = sample;
  });
  double most = 0;
  for (auto& [lane, range] : ranges) {
    if (range.before) range.include(range.before->value);
    most = std::max(most, range.most - range.least);
  }
  return most;
}

std::optional<double> alloc_retries(const trace::Trace& trace) {
  bool counted = false;
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    counted |= trace.lanes()[i].kind == LaneKind::kMemory;
  if (!counted || trace.allocator_events().empty()) return std::nullopt;
  double retries = 0;
  trace::for_each(trace.allocator_events(), [&](const trace::AllocatorEvent& event, std::uint32_t) {
    if (event.action == trace::AllocatorAction::kRetry) ++retries;
  });
  return retries;
}

}  // namespace trainscope::analysis
