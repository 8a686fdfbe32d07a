// What a trace's counters of device memory say: the simulator's, or those that PyTorch's profiler
// writes ("[memory]").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// What a lane counts: the simulator's by its kind, the profiler's by the name that our reader gives
// it. kAboveLeast: allocated memory of which the file tells only the changes.
enum class MemoryCount { kNeither, kAllocated, kReserved, kAboveLeast };
MemoryCount counted_by(const trace::Lane& lane);

// One of the GPUs whose memory a trace counts.
struct MemoryGpu {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::string
      name;  // as its lanes are headed, "GPU 0"; with the rank where that alone is another's, too
  double peak = 0;  // the most bytes that tensors had of it

  bool same_place(const MemoryGpu& other) const {
    return rank == other.rank && device == other.device;
  }
};
// By rank and device, those that tensors had something of.
std::vector<MemoryGpu> memory_gpus(const trace::Trace& trace);
// The one on which tensors had the most at any time, the first of several; null of none.
const MemoryGpu* fullest(const std::vector<MemoryGpu>& gpus);

// In bytes, of the GPU that used the most. Nothing where the trace does not count it.
struct MemoryPeaks {
  std::optional<double> allocated;  // in live tensors
  std::optional<double> reserved;   // held by the allocator
  // 1 - allocated / reserved when most was allocated, the first time of several.
  std::optional<double> fragmentation;
  std::optional<double> least_allocated;  // of the GPU whose peak is the lowest
  int gpus = 0;                           // that the trace counts
};
MemoryPeaks memory_peaks(const trace::Trace& trace);

// How far memory in live tensors rises above its least within a time, in bytes, of the GPU where it
// rises the most. Also of a file that tells changes alone. Nothing where the trace does not count.
std::optional<double> memory_rise(const trace::Trace& trace, Nanos from, Nanos to);

// Nothing where the trace has no counters of the simulator's.
std::optional<double> alloc_retries(const trace::Trace& trace);

}  // namespace trainscope::analysis
