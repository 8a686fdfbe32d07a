// The roofline of a GPU: how fast arithmetic can be, given how many operations a kernel does with
// each byte that it moves (Williams, Waterman and Patterson, Communications of the ACM 52(4),
// 2009), with a slope for L2 beside that of device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/architecture.h"
#include "machine/machine.h"

namespace trainscope::machine {

// The intensity, in operations a byte, at which a peak of arithmetic and the peak of memory take
// equally long: below it memory is the limit. Nothing where the GPU has no such unit.
std::optional<double> ridge(const Gpu& gpu, Math math);

// The share of traffic to `footprint` distinct bytes, gone through again and again, that L2 serves:
// all of it where they fit. Else a line is still there with probability h when it is next used, if
// each miss in between replaces a random one: h = exp(-(footprint / L2) (1 - h)). (Which line a GPU
// replaces is not published.) 0 where the bandwidth of L2 is not known, or the footprint.
double l2_hits(const Gpu& gpu, double footprint);

enum class Bound : std::uint8_t { kCompute, kMemory, kLatency, kOverhead };
inline constexpr std::size_t kBounds = static_cast<std::size_t>(Bound::kOverhead) + 1;
std::string_view name_of(Bound bound);  // "compute-bound"

// What one launch of a kernel does.
struct KernelWork {
  Math math = Math::kFp32;
  double efficiency = 1;    // of the unit's peak, what the best such code reaches
  double flops = 0;         // operations
  double bytes = 0;         // of its traffic, as the SMs see it
  double device_bytes = 0;  // of it, with device memory
  // What an SM's warps have on its way at once, of all SMs of a GPU that is full of its blocks; 0:
  // as much as the units can take.
  double flops_in_flight = 0;
  double bytes_in_flight = 0;

  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

// How long each resource, at the rate that it can reach, needs for the work, as a share of the time
// that the kernel took; and how long the work takes at what is on its way at once over how long
// that is (Little's law), whatever the resources could do.
struct Regime {
  double arithmetic = 0;
  double memory = 0;   // device memory
  double l2 = 0;       // 0: not known
  double latency = 0;  // 0: nothing limits what is on its way
  Bound bound = Bound::kOverhead;

  double busiest() const;    // the largest of the three resources
  double explained() const;  // the largest of all
};

// Bound by the resource that needs longest; by latency where that explains the time and leaves each
// resource idle for a fifth of it at least; by overhead where less than half of the time is
// explained, which then went to something else: the shortest time of a kernel, too few blocks, a
// tail, a slower path. (Nsight Compute, too, takes four fifths of a peak for what is near to it.)
inline constexpr double kExplained = 0.5;
inline constexpr double kBusy = 0.8;
Regime regime(const Gpu& gpu, const KernelWork& work, double nanos);

}  // namespace trainscope::machine
