#include "analysis/causes/partition.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/lane_kinds.h"
#include "base/median.h"
#include "trace/ranks.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::Cause;
using trace::LaneKind;
using trace::Span;

// What the training thread did, by when: the reasons for an idle GPU.
struct HostTimes {
  IntervalSet staging;  // held by the staging of pageable memory, or waiting to begin it
  IntervalSet data;     // waiting for a batch, loading or pinning one
  IntervalSet sync;     // in a synchronisation
  IntervalSet peer;     // until other ranks have called for a collective
};

HostTimes host_times(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> staging, data, sync, peer;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    const bool loads = span.category == Category::kLoader || span.category == Category::kPin;
    if (!loads && span.category != Category::kHeld) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind != LaneKind::kHostThread || !measured.counts(lane)) return;
    const Interval interval{span.start, span.end()};
    if (loads) data.push_back(interval);
    if (span.category != Category::kHeld) return;
    // Held on its way to a launch: by the interpreter's lock, or by the launch queue.
    if (span.cause == Cause::kLock || span.cause == Cause::kRoom) return;
    if (span.cause == Cause::kPeer) {
      peer.push_back(interval);
    } else if (span.cause == Cause::kData) {
      data.push_back(interval);
    } else if (span.cause == Cause::kStaging) {
      staging.push_back(interval);
    } else if (is_call_of_runtime(trace.name(span))) {
      sync.push_back(interval);
    } else {
      staging.push_back(interval);
    }
  });
  return {IntervalSet(std::move(staging)), IntervalSet(std::move(data)),
          IntervalSet(std::move(sync)), IntervalSet(std::move(peer))};
}

IntervalSet window_of(const Measured& measured) {
  return IntervalSet({measured.window});
}

// Walks through a set for times that mostly ascend: each is found near the one before.
class Walker {
 public:
  explicit Walker(const IntervalSet& set) : all_(set.intervals()), at_(all_.begin()) {}

  // The first interval that ends at `time` or later; the end of all where there is none.
  std::vector<Interval>::const_iterator ending_from(Nanos time) {
    constexpr int kNear = 8;
    for (int i = 0; i < kNear && at_ != all_.end() && at_->end < time; ++i) ++at_;
    const bool before = at_ == all_.begin() || std::prev(at_)->end < time;
    const bool there = at_ == all_.end() || at_->end >= time;
    if (!before || !there)
      at_ = std::lower_bound(before ? at_ : all_.begin(), before ? all_.end() : at_, time,
                             [](const Interval& one, Nanos start) { return one.end < start; });
    return at_;
  }

  // IntervalSet::length_within.
  Nanos length_within(const Interval& range) {
    Nanos sum = 0;
    for (auto one = ending_from(range.start + 1); one != all_.end() && one->start < range.end;
         ++one)
      sum += std::min(one->end, range.end) - std::max(one->start, range.start);
    return sum;
  }

 private:
  const std::vector<Interval>& all_;
  std::vector<Interval>::const_iterator at_;
};

// Idle time that ends with a span which an event, a peer or the work before it let go.
struct DeviceCauses {
  IntervalSet event;
  IntervalSet peer;
  IntervalSet order;  // the device's own time between kernels, whatever the host does
};

// From a call to the beginning of its kernel, where the GPU was idle when it was made: the middle.
Nanos launch_latency(const Measured& measured, const IntervalSet& idle) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Nanos> latencies;
  Walker gaps(idle);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.cause != Cause::kLaunch || span.cause_span == trace::kNone) return;
    if (!trace::is_kernel(span.category) || !measured.counts(trace.lanes()[span.lane])) return;
    const auto gap = gaps.ending_from(span.start);
    const Nanos called = trace.spans()[span.cause_span].start;
    if (gap != idle.intervals().end() && gap->end == span.start && called >= gap->start)
      latencies.push_back(span.start - called);
  });
  return latencies.empty() ? 0 : median(std::move(latencies));
}

DeviceCauses device_causes(const Measured& measured, const IntervalSet& idle) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> event, peer, order;
  Walker gaps(idle);
  // A profiler's trace does not say what work waited for last: not for its launch, where that had
  // reached the GPU before it was idle.
  const bool is_told = trace.origin().kind != trace::OriginKind::kImported;
  const Nanos latency = is_told ? 0 : launch_latency(measured, idle);
  const auto was_launched_before = [&](const Span& span) {
    if (is_told || span.cause != Cause::kLaunch || span.cause_span == trace::kNone) return false;
    const auto gap = gaps.ending_from(span.start);
    const Span& call = trace.spans()[span.cause_span];
    return gap != idle.intervals().end() &&
           std::max(call.end(), call.start + latency) <= gap->start;
  };
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    const bool by_order = trace::is_kernel(span.category) &&
                          (span.cause == Cause::kStream || was_launched_before(span));
    if (span.cause != Cause::kEvent && span.cause != Cause::kPeer && !by_order) return;
    if (!measured.counts(trace.lanes()[span.lane])) return;
    const auto gap = gaps.ending_from(span.start);
    if (gap == idle.intervals().end() || gap->end != span.start) return;
    (by_order ? order : span.cause == Cause::kEvent ? event : peer).push_back(*gap);
  });
  return {IntervalSet(std::move(event)), IntervalSet(std::move(peer)),
          IntervalSet(std::move(order))};
}

// At a run's end: a rank that is through, while others are still at work. Steps that it marks
// itself end with its own work.
IntervalSet through_before_others(const Measured& measured) {
  if (measured.windows_of_ranks.contains(measured.rank)) return {};
  if (trace::ranks_of(*measured.trace).size() < 2) return {};
  const IntervalSet own = gpu_busy(measured);
  const Nanos last = own.empty() ? measured.window.start : own.intervals().back().end;
  if (last >= measured.window.end) return {};
  return IntervalSet({{last, measured.window.end}});
}

// Disjoint sets that cover the window, by part.
std::array<IntervalSet, kPartCount> parts(const Measured& measured) {
  std::array<IntervalSet, kPartCount> sets;
  IntervalSet left = window_of(measured);
  if (!measured.on_gpu) {
    sets[static_cast<std::size_t>(Part::kOnCpu)] = std::move(left);
    return sets;
  }
  const auto take = [&](Part part, const IntervalSet& claim) {
    if (claim.empty()) return;
    sets[static_cast<std::size_t>(part)] = left.intersected(claim);
    left = left.without(claim);
  };
  take(Part::kCompute, measured.kernels);
  take(Part::kExposedCommunication, measured.collectives);
  take(Part::kExposedCopy, measured.copies);
  take(Part::kMemset, measured.memsets);
  const DeviceCauses device = device_causes(measured, left);
  const HostTimes host = host_times(measured);
  take(Part::kIdleStream, device.event);
  take(Part::kIdleCollective,
       device.peer.united(host.peer).united(through_before_others(measured)));
  take(Part::kIdleGap, device.order);
  take(Part::kIdleCopy, host.staging);
  take(Part::kIdleData, host.data);
  take(Part::kIdleSync, host.sync);
  sets[static_cast<std::size_t>(Part::kIdleLaunch)] = std::move(left);
  return sets;
}

// The lane on which a gap is shown: that of the next kernel, where people look for it, or, in a run
// without kernels, that of the work that ends it.
class GapLanes {
 public:
  explicit GapLanes(const trace::Trace& trace) {
    const std::vector<LaneKind> kinds = lane_kinds(trace);
    std::vector<std::pair<Nanos, trace::LaneId>> kernels, others;
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (kinds[span.lane] != LaneKind::kStream || !trace::is_gpu_work(span.category)) return;
      (trace::is_kernel(span.category) ? kernels : others).emplace_back(span.start, span.lane);
    });
    starts_ = kernels.empty() ? std::move(others) : std::move(kernels);
    if (!std::is_sorted(starts_.begin(), starts_.end())) std::sort(starts_.begin(), starts_.end());
  }
  // Of gaps that ascend.
  trace::LaneId after(Nanos gap_end) {
    while (next_ < starts_.size() && starts_[next_].first < gap_end) ++next_;
    return next_ == starts_.size() ? trace::kNone : starts_[next_].second;
  }

 private:
  std::vector<std::pair<Nanos, trace::LaneId>> starts_;
  std::size_t next_ = 0;
};

void sort_by_size(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return std::abs(x.nanos) > std::abs(y.nanos);
  });
}

void sort_by_length(std::vector<IdleGap>& gaps) {
  std::stable_sort(gaps.begin(), gaps.end(), [](const IdleGap& a, const IdleGap& b) {
    return a.end - a.start > b.end - b.start;
  });
}

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kCompute:
      return "kernels";
    case Part::kExposedCommunication:
      return "exposed communication";
    case Part::kExposedCopy:
      return "exposed copy";
    case Part::kMemset:
      return "memset";
    case Part::kOnCpu:
      return "work on the CPU";
    case Part::kIdleCopy:
      return "waiting for staging";
    case Part::kIdleData:
      return "waiting for data";
    case Part::kIdleStream:
      return "waiting for another stream";
    case Part::kIdleCollective:
      return "waiting for another rank";
    case Part::kIdleSync:
      return "synchronising";
    case Part::kIdleLaunch:
      return "waiting for a launch";
    case Part::kIdleGap:
      return "between kernels";
  }
  return "";
}

std::string_view key_of(Part part) {
  return part == Part::kCompute ? "compute" : name_of(part);
}

std::string_view name_of(const Change& change) {
  return change.by_order ? "kernels one after another" : name_of(change.part);
}

Partition partition(const Measured& measured) {
  Partition result;
  result.kernels_summed = measured.kernels_summed;
  const auto sets = parts(measured);
  for (std::size_t i = 0; i < kPartCount; ++i) result.time[i] = sets[i].length();
  return result;
}

std::vector<IdleGap> idle_gaps(const Measured& measured) {
  if (!measured.on_gpu) return {};
  const auto sets = parts(measured);
  std::vector<Walker> walkers(sets.begin(), sets.end());
  GapLanes lanes(*measured.trace);
  const IntervalSet idle = window_of(measured).without(gpu_busy(measured));
  std::vector<IdleGap> gaps;
  gaps.reserve(idle.intervals().size());
  for (const Interval& one : idle.intervals()) {
    IdleGap gap{one.start, one.end, Part::kIdleLaunch, lanes.after(one.end)};
    Nanos most = -1;
    for (std::size_t i = 0; i < kPartCount; ++i) {
      const Nanos here = walkers[i].length_within(one);
      if (here <= most) continue;
      most = here;
      gap.cause = static_cast<Part>(i);
    }
    gaps.push_back(gap);
  }
  sort_by_length(gaps);
  return gaps;
}

std::vector<IdleGap> exposed_communication(const Measured& measured) {
  if (measured.collectives.empty()) return {};
  GapLanes lanes(*measured.trace);
  std::vector<IdleGap> gaps;
  const IntervalSet exposed = measured.collectives.without(measured.kernels);
  for (const Interval& one : exposed.intervals())
    gaps.push_back({one.start, one.end, Part::kExposedCommunication, lanes.after(one.end)});
  sort_by_length(gaps);
  return gaps;
}

std::vector<Change> compare(const Partition& a, int steps_a, const Partition& b, int steps_b) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < kPartCount; ++i) {
    const double change =
        static_cast<double>(b.time[i]) / steps_b - static_cast<double>(a.time[i]) / steps_a;
    if (change != 0) changes.push_back({static_cast<Part>(i), change});
  }
  sort_by_size(changes);
  return changes;
}

std::vector<Change> compare_by_order(const Partition& a, int steps_a, const Partition& b,
                                     int steps_b, double least) {
  std::vector<Change> changes = compare(a, steps_a, b, steps_b);
  const auto at_once = [](const Partition& one, int steps) {
    return static_cast<double>(one.kernels_summed - one[Part::kCompute]) / steps;
  };
  double by_order = at_once(a, steps_a) - at_once(b, steps_b);
  if (std::abs(by_order) <= least) return changes;
  const auto whole = std::ranges::find(changes, Part::kCompute, &Change::part);
  const double change = whole == changes.end() ? 0 : whole->nanos;
  if (whole != changes.end()) changes.erase(whole);
  const double one_by_one = change - by_order;
  if (std::abs(one_by_one) > least)
    changes.push_back({Part::kCompute, one_by_one});
  else
    by_order = change;
  changes.push_back({Part::kCompute, by_order, true});
  sort_by_size(changes);
  return changes;
}

}  // namespace trainscope::analysis
