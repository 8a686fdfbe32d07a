// Where the time went: each nanosecond of the measured window belongs to exactly one part.
//
// While a kernel runs it is the kernels'; else, while a collective runs, exposed communication;
// else, while a copy runs, exposed copy; else, a memset. What is left is idle, and is divided by
// what held the GPU up. Where no GPU works at all, it is all the CPU's.
//
// A profiler's trace, and a replay of one, has a copy of pageable memory as one span, in which the
// GPU counts as busy all the time: its staging is exposed copy there, and not idle as in a run.
//
// The partition is of what the GPU did and what its training thread did meanwhile; the critical
// path is of what the steps depend on. A batch that a worker brings late is idle for data in the
// one, and loading in the other. A load that nobody waits for is in neither.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

enum class Part : std::uint8_t {
  kCompute,
  kExposedCommunication,
  kExposedCopy,
  kMemset,
  kOnCpu,
  kIdleCopy,        // the host stages pageable memory
  kIdleData,        // no batch yet
  kIdleStream,      // an event of another stream
  kIdleCollective,  // another rank
  kIdleSync,        // the host waits for, or wakes up from, a synchronisation
  kIdleLaunch,      // the host has not launched yet, or the launch is on its way
  kIdleGap,         // from a kernel to the next one of its stream, which was launched in time
};
inline constexpr std::size_t kPartCount = static_cast<std::size_t>(Part::kIdleGap) + 1;

// As a person reads it: "waiting for staging". Time in which kernels run is "kernels", whatever
// bounds them.
std::string_view name_of(Part part);

// As programs read it, in JSON: "compute".
std::string_view key_of(Part part);

struct Partition {
  std::array<Nanos, kPartCount> time{};  // over the whole window; sums to its length
  Nanos kernels_summed = 0;              // Measured's: at least the kernels' part
  Nanos operator[](Part part) const { return time[static_cast<std::size_t>(part)]; }
};

// A stretch in which the GPU did nothing, and what it mostly waited for.
struct IdleGap {
  Nanos start = 0;
  Nanos end = 0;
  Part cause = Part::kIdleLaunch;
  trace::LaneId lane = trace::kNone;  // where it is shown: the stream of the next kernel
};

Partition partition(const Measured& measured);

// The gaps of the window, longest first; none where no GPU works at all.
std::vector<IdleGap> idle_gaps(const Measured& measured);

// The stretches of the window in which a GPU only communicated, longest first: they sum to the
// partition's exposed communication.
std::vector<IdleGap> exposed_communication(const Measured& measured);

// One bar of the waterfall from A's time to B's.
struct Change {
  Part part = Part::kCompute;
  double nanos = 0;  // B minus A, a step
  // Of the kernels' part: not what they take one by one, but what they take longer, or less long,
  // as fewer or more of them run at once.
  bool by_order = false;
};
// Changes that are not 0, largest first; with the times a step of both sides they sum exactly.
std::vector<Change> compare(const Partition& a, int steps_a, const Partition& b, int steps_b);

// The same, with the kernels' change in two where kernels run at once on one side more than on the
// other, by more than `least` a step. Where one by one they differ by no more than that, all of the
// change is by their order.
std::vector<Change> compare_by_order(const Partition& a, int steps_a, const Partition& b,
                                     int steps_b, double least);

// "kernels one after another", or the part's name.
std::string_view name_of(const Change& change);

}  // namespace trainscope::analysis
