#include "analysis/views/memory_history.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {
namespace {

using trace::LaneKind;

constexpr std::string_view kOfRole = "allocated: ";

bool is_of(const trace::Lane& lane, const MemoryGpu& gpu) {
  return lane.rank == gpu.rank && lane.device == gpu.device;
}

// What a lane counts of that GPU.
struct Meaning {
  MemoryCount count = MemoryCount::kNeither;
  int role = -1;
};

std::vector<Meaning> meanings(const trace::Trace& trace, const MemoryGpu& gpu,
                              std::vector<std::string>& roles) {
  std::vector<Meaning> all(trace.lanes().size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (!is_of(lane, gpu)) continue;
    all[i].count = counted_by(lane);
    if (lane.kind != LaneKind::kMemoryRole) continue;
    all[i].role = static_cast<int>(roles.size());
    const std::string_view name = lane.name;
    roles.emplace_back(name.starts_with(kOfRole) ? name.substr(kOfRole.size()) : name);
  }
  return all;
}

}  // namespace

bool counts_memory(const trace::Trace& trace) {
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    if (counted_by(trace.lanes()[i]) == MemoryCount::kAllocated) return true;
  return false;
}

MemoryHistory::MemoryHistory(const trace::Trace& trace) {
  const std::vector<MemoryGpu> gpus = memory_gpus(trace);
  if (const MemoryGpu* gpu = fullest(gpus)) *this = MemoryHistory(trace, *gpu);
}

MemoryHistory::MemoryHistory(const trace::Trace& trace, const MemoryGpu& gpu) {
  read_samples(trace, gpu);
  read_steps(trace);
  read_phases(trace, gpu);
}

void MemoryHistory::read_samples(const trace::Trace& trace, const MemoryGpu& gpu) {
  const std::vector<Meaning> lanes = meanings(trace, gpu, roles_);
  std::vector<trace::Sample> samples;
  for (std::uint32_t i = 0, n = trace.samples().size(); i < n; ++i) {
    const trace::Sample& sample = trace.samples()[i];
    if (sample.lane >= lanes.size()) continue;
    const Meaning& lane = lanes[sample.lane];
    if (lane.count != MemoryCount::kNeither || lane.role >= 0) samples.push_back(sample);
  }
  std::ranges::stable_sort(samples, {}, &trace::Sample::time);
  Moment now;
  now.by_role.resize(roles_.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Meaning& lane = lanes[samples[i].lane];
    if (lane.role >= 0) now.by_role[static_cast<std::size_t>(lane.role)] = samples[i].value;
    if (lane.count == MemoryCount::kAllocated) now.allocated = samples[i].value;
    if (lane.count == MemoryCount::kReserved) now.reserved = samples[i].value;
    now.time = samples[i].time;
    if (i + 1 < samples.size() && samples[i + 1].time == now.time) continue;
    if (moments_.empty() || now.allocated > moments_[peak_].allocated) peak_ = moments_.size();
    most_reserved_ = std::max(most_reserved_, now.reserved);
    moments_.push_back(now);
  }
}

void MemoryHistory::read_steps(const trace::Trace& trace) {
  for (const StepWindow& step : step_windows(trace))
    steps_.push_back({step.mark.start, step.mark.end});
}

void MemoryHistory::read_phases(const trace::Trace& trace, const MemoryGpu& gpu) {
  std::vector<HostPhase> launches;
  for (std::uint32_t i = 0, n = trace.flows().size(); i < n; ++i) {
    const trace::Flow& flow = trace.flows()[i];
    const trace::Span &call = trace.spans()[flow.from], &work = trace.spans()[flow.to];
    const bool phased =
        trace::is_kernel(work.category) && work.category != trace::Category::kKernel;
    if (flow.kind == trace::FlowKind::kLaunch && phased && is_of(trace.lanes()[work.lane], gpu))
      launches.push_back({call.start, call.end(), work.category});
  }
  std::ranges::stable_sort(launches, {}, &HostPhase::start);
  for (const HostPhase& launch : launches) {
    const auto in_one_step = [&](const HostPhase& phase) {
      const auto next = std::ranges::upper_bound(steps_, phase.start, {}, &Step::start);
      return next == steps_.end() || launch.start < next->start;
    };
    if (!phases_.empty() && phases_.back().category == launch.category &&
        in_one_step(phases_.back()))
      phases_.back().end = std::max(phases_.back().end, launch.end);
    else
      phases_.push_back(launch);
  }
}

const MemoryHistory::Moment* MemoryHistory::at(Nanos time) const {
  const auto after = std::ranges::upper_bound(moments_, time, {}, &Moment::time);
  return after == moments_.begin() ? nullptr : &*std::prev(after);
}

std::size_t MemoryHistory::changes_by(Nanos time) const {
  const auto after = std::ranges::upper_bound(moments_, time, {}, &Moment::time);
  return static_cast<std::size_t>(after - moments_.begin());
}

std::vector<const MemoryHistory::Moment*> MemoryHistory::highest_of_changes(
    std::size_t first, std::size_t last, std::size_t columns) const {
  std::vector<const Moment*> highest(columns);
  last = std::min(last, moments_.size());
  if (first >= last) return highest;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t from = first + (last - first) * i / columns;
    const std::size_t to = std::max(from + 1, first + (last - first) * (i + 1) / columns);
    for (std::size_t at = from; at < to; ++at)
      if (!highest[i] || moments_[at].allocated > highest[i]->allocated) highest[i] = &moments_[at];
  }
  return highest;
}

std::vector<const MemoryHistory::Moment*> MemoryHistory::highest(Nanos start, Nanos end,
                                                                 std::size_t columns) const {
  std::vector<const Moment*> highest(columns);
  const double width = static_cast<double>(end - start) / static_cast<double>(columns);
  auto next = std::ranges::upper_bound(moments_, start, {}, &Moment::time);
  const Moment* holds = next == moments_.begin() ? nullptr : &*std::prev(next);
  for (std::size_t i = 0; i < columns; ++i) {
    const double until = static_cast<double>(start) + width * static_cast<double>(i + 1);
    highest[i] = holds;
    for (; next != moments_.end() && static_cast<double>(next->time) < until; ++next) {
      holds = &*next;
      if (!highest[i] || next->allocated > highest[i]->allocated) highest[i] = holds;
    }
  }
  return highest;
}

std::vector<std::size_t> stack_order(const std::vector<std::string>& roles) {
  using program::Role;
  static constexpr Role kOrder[] = {Role::kParameter, Role::kOptimizerState, Role::kBatch,
                                    Role::kGradient,  Role::kActivation,     Role::kWorkspace};
  const auto rank = [&roles](std::size_t at) {
    std::size_t found = 0;
    while (found < std::size(kOrder) && program::name_of(kOrder[found]) != roles[at]) ++found;
    return found;
  };
  std::vector<std::size_t> order(roles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

}  // namespace trainscope::analysis
