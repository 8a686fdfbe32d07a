// Runs on the GPU of this machine, from whatever thread, one after another.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analysis/runs/measured_run.h"

namespace trainscope::analysis {

class GpuRuns {
 public:
  using Device = std::shared_ptr<cuda::DeviceCalls>;
  // Throws MissingError where there is none, or nothing that could speak to it.
  using OpenDevice = std::function<Device()>;

  explicit GpuRuns(OpenDevice open) : open_(std::move(open)) {}

  // The first opens the device. Nothing where it is no longer wanted before its turn has come.
  // Throws as opening does, and as measured_run.
  std::optional<Run> run(std::string label, const program::Config& config, const Watch& watch);

 private:
  OpenDevice open_;
  std::timed_mutex mutex_;  // held by the run whose turn it is
  Device device_;
};

// With the plug-in beside the program that runs.
GpuRuns::Device plugged_in_device();

}  // namespace trainscope::analysis
