#include "analysis/partition.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind != LaneKind::kHostThread || !measured.counts(lane)) continue;
    const Interval interval{span.start, span.end()};
    if (span.category == Category::kLoader || span.category == Category::kPin)
      data.push_back(interval);
    if (span.category != Category::kHeld) continue;
    // Held on its way to a launch: by the interpreter's lock, or by the launch queue.
    if (span.cause == Cause::kLock || span.cause == Cause::kRoom) continue;
    if (span.cause == Cause::kPeer) {
      peer.push_back(interval);
    } else if (span.cause == Cause::kData) {
      data.push_back(interval);
    } else if (trace.name(span).starts_with("cuda")) {
      sync.push_back(interval);
    } else {
      staging.push_back(interval);
    }
  }
  return {IntervalSet(std::move(staging)), IntervalSet(std::move(data)),
          IntervalSet(std::move(sync)), IntervalSet(std::move(peer))};
}

IntervalSet window_of(const Measured& measured) {
  return IntervalSet({measured.window});
}

IntervalSet busy(const Measured& measured) {
  return measured.kernels.united(measured.copies)
      .united(measured.collectives)
      .united(measured.memsets);
}

// Idle time that ends with a span which an event, a peer or the work before it let go.
struct DeviceCauses {
  IntervalSet event;
  IntervalSet peer;
  IntervalSet order;  // the device's own gap between two kernels, whatever the host does
};

DeviceCauses device_causes(const Measured& measured, const IntervalSet& idle) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> event, peer, order;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const bool by_order = span.cause == Cause::kStream && trace::is_kernel(span.category);
    if (span.cause != Cause::kEvent && span.cause != Cause::kPeer && !by_order) continue;
    if (!measured.counts(trace.lanes()[span.lane])) continue;
    const auto gap =
        std::lower_bound(idle.intervals().begin(), idle.intervals().end(), span.start,
                         [](const Interval& one, Nanos start) { return one.end < start; });
    if (gap == idle.intervals().end() || gap->end != span.start) continue;
    (by_order ? order : span.cause == Cause::kEvent ? event : peer).push_back(*gap);
  }
  return {IntervalSet(std::move(event)), IntervalSet(std::move(peer)),
          IntervalSet(std::move(order))};
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
  take(Part::kIdleCollective, device.peer.united(host.peer));
  const IntervalSet between_kernels = left.intersected(device.order);
  left = left.without(device.order);
  take(Part::kIdleCopy, host.staging);
  take(Part::kIdleData, host.data);
  take(Part::kIdleSync, host.sync);
  left = left.united(between_kernels);
  take(Part::kIdleLaunch, left);
  return sets;
}

// The lane on which a gap is shown: that of the next kernel, where people look for it, or, in a run
// without kernels, that of the work that ends it.
class GapLanes {
 public:
  explicit GapLanes(const trace::Trace& trace) {
    std::vector<std::pair<Nanos, trace::LaneId>> kernels, others;
    for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
      const Span& span = trace.spans()[i];
      if (trace.lanes()[span.lane].kind != LaneKind::kStream || !trace::is_gpu_work(span.category))
        continue;
      (trace::is_kernel(span.category) ? kernels : others).emplace_back(span.start, span.lane);
    }
    starts_ = kernels.empty() ? std::move(others) : std::move(kernels);
    std::sort(starts_.begin(), starts_.end());
  }
  trace::LaneId after(Nanos gap_end) const {
    const auto next =
        std::lower_bound(starts_.begin(), starts_.end(), std::pair{gap_end, trace::LaneId{0}});
    return next == starts_.end() ? trace::kNone : next->second;
  }

 private:
  std::vector<std::pair<Nanos, trace::LaneId>> starts_;
};

void sort_by_length(std::vector<IdleGap>& gaps) {
  std::stable_sort(gaps.begin(), gaps.end(), [](const IdleGap& a, const IdleGap& b) {
    return a.end - a.start > b.end - b.start;
  });
}

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kCompute:
      return "compute";
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
  }
  return "";
}

Partition partition(const Measured& measured) {
  Partition result;
  const auto sets = parts(measured);
  for (std::size_t i = 0; i < kPartCount; ++i) result.time[i] = sets[i].length();
  return result;
}

std::vector<IdleGap> idle_gaps(const Measured& measured) {
  if (!measured.on_gpu) return {};
  const auto sets = parts(measured);
  const GapLanes lanes(*measured.trace);
  const IntervalSet idle = window_of(measured).without(busy(measured));
  std::vector<IdleGap> gaps;
  for (const Interval& one : idle.intervals()) {
    IdleGap gap{one.start, one.end, Part::kIdleLaunch, lanes.after(one.end)};
    Nanos most = -1;
    for (std::size_t i = 0; i < kPartCount; ++i) {
      const Nanos here = sets[i].length_within(one);
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
  const GapLanes lanes(*measured.trace);
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
  std::stable_sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return std::abs(x.nanos) > std::abs(y.nanos);
  });
  return changes;
}

}  // namespace trainscope::analysis
