// What kernels and training steps reach on a device, for bench_device() and its tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/device_calls.h"
#include "program/config.h"
#include "program/program.h"

namespace trainscope::bench {

// A kernel whose time is that of moving memory, beside a copy within device memory.
struct KernelRate {
  std::string name;        // "aten::gelu, vectorized_elementwise_kernel"
  std::int64_t bytes = 0;  // that it must move: each operand once, what it changes twice
  double nanos = 0;        // medians
  double copy_nanos = 0;   // of a copy that moves as many
  std::string failure;     // why there are no times, as a sentence; empty: there are
  double share() const { return copy_nanos / nanos; }
};

// Kernels of fused operations: those that read their steps, or those that were compiled for them.
enum class FusedBy { kReading, kCompiling };

// Trainings whose kernels are timed so, tensors of 100 MB and more among their operands.
struct RateCase {
  std::string words;  // "gpt-mini, in FP16"
  program::Config config;
  FusedBy fused = FusedBy::kCompiling;
};
std::vector<RateCase> rate_cases();

// Of the program's operations that do little but move memory, those that move `least_bytes` and
// more, each name and size once.
std::vector<KernelRate> kernel_rates(cuda::DeviceCalls& device, const program::Program& program,
                                     std::int64_t least_bytes, FusedBy fused = FusedBy::kCompiling);

// Milliseconds of a training step while so much is watched: what more steps take more, so that
// neither the first ones nor the set-up count.
struct StepTime {
  double best = 0;
  double median = 0;
};
StepTime step_time(cuda::DeviceCalls& device, const program::Config& config, cuda::WatchLevel level,
                   int steps, int rounds);

// Microseconds that a kernel of the config's training lasts on average.
double mean_kernel_time(cuda::DeviceCalls& device, const program::Config& config);

}  // namespace trainscope::bench
