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

enum class Bound : std::uint8_t { kCompute, kMemory, kOverhead };
inline constexpr std::size_t kBounds = static_cast<std::size_t>(Bound::kOverhead) + 1;
std::string_view name_of(Bound bound);  // "compute-bound"

// What one launch of a kernel does.
struct KernelWork {
  Math math = Math::kFp32;
  double efficiency = 1;    // of the unit's peak, what the best such code reaches
  double flops = 0;         // operations
  double bytes = 0;         // of its traffic, as the SMs see it
  double device_bytes = 0;  // of it, with device memory

  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

// How long each resource, at the rate that it can reach, needs for the work, as a share of the time
// that the kernel took.
struct Regime {
  double arithmetic = 0;
  double memory = 0;  // device memory
  double l2 = 0;      // 0: not known
  Bound bound = Bound::kOverhead;

  double explained() const;  // the largest of the three
};

// Bound by the resource that needs longest; by overhead where that is less than half of the time,
// which then went to something else: the shortest time of a kernel, latency, a tail, a slower path.
inline constexpr double kExplained = 0.5;
Regime regime(const Gpu& gpu, const KernelWork& work, double nanos);

}  // namespace trainscope::machine
