// The kernels of a run on the roofline of its GPU: what each does with the bytes that it moves, how
// fast, and what it is bound by; and the same of a step.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/steps/measured.h"
#include "machine/roofline.h"

namespace trainscope::analysis {

// All launches of one kernel with the same shape.
struct RooflineKernel {
  std::string name;
  machine::KernelWork work;  // of one launch
  std::int64_t launches = 0;
  Nanos time = 0;    // of them all, in the window
  double nanos = 0;  // of one, on average
  machine::Regime regime;

  double achieved() const { return nanos > 0 ? work.flops / nanos * 1e9 : 0; }  // operations a s
  // Whether a chart of both, on scales of factors, has a place for it.
  bool has_point() const { return work.intensity() > 0 && achieved() > 0; }
};

struct Roofline {
  std::vector<RooflineKernel> kernels;  // by time, longest first
  Nanos unknown = 0;                    // time of kernels whose arithmetic is not known
  // The window, where any kernel is known: each nanosecond belongs to the first of compute, memory
  // and latency that a kernel at work is bound by, else to overhead. Without kernels that nothing
  // is known of.
  std::array<Nanos, machine::kBounds> time{};

  bool known() const { return !kernels.empty(); }
  Nanos operator[](machine::Bound bound) const { return time[static_cast<std::size_t>(bound)]; }
  double share(machine::Bound bound) const;  // of them all
  machine::Bound bound() const;              // the one with the largest share
};

// Without a program or a machine, as of a file that was imported, only kernels of which the trace
// itself tells operations and bytes are known, and nothing is bound by anything.
Roofline roofline(const Measured& measured);

// Operations a byte of all kernels together; nothing where no bytes are known.
std::optional<double> intensity(const Roofline& roofline);

// The type in which most operations are done; none where no kernel's are known.
std::optional<machine::Math> used_math(const Roofline& roofline);
// The ridge of that type.
std::optional<double> ridge(const Roofline& roofline, const machine::Gpu& gpu);

}  // namespace trainscope::analysis
