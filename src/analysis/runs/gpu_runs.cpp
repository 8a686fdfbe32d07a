#include "analysis/runs/gpu_runs.h"

#include <chrono>
#include <utility>

#include "cuda/calibration/bench.h"
#include "cuda/own_device.h"

namespace trainscope::analysis {

std::optional<Run> GpuRuns::run(std::string label, const program::Config& config,
                                const Watch& watch) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(50)))
    if (watch.wanted && !watch.wanted()) return std::nullopt;
  if (!device_) {
    device_ = open_();
    cuda::wake_up(*device_);
  }
  return measured_run(std::move(label), config, *device_, watch);
}

GpuRuns::Device plugged_in_device() {
  return cuda::open_own_device("the window simulates the same run");
}

}  // namespace trainscope::analysis
