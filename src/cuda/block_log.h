// What kernels write of their own blocks, launch by launch: where each ran, and from when to when.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/activity.h"
#include "cuda/device_calls.h"

namespace trainscope::cuda {

class BlockLog {
 public:
  // Of all launches of a run: 24 MiB of device memory.
  static constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;

  explicit BlockLog(DeviceCalls& device) : device_(device) {}

  // Where the launch is to write its blocks, from any thread. Null for a kernel that tells none of
  // them, and once there is no room.
  BlockRecord* room_for(const KernelCall& kernel, CallId call, StreamHandle stream);

  // Of all launches so far, once the device is idle; their room is given back.
  std::vector<BlockTrace> take();
  // Launches that there was no room for.
  std::int64_t dropped() const { return dropped_; }

 private:
  struct Launch {
    CallId call = 0;
    StreamHandle stream = 0;
    BlockRecord* records = nullptr;  // in device memory
    std::int64_t blocks = 0;
  };

  DeviceCalls& device_;
  std::mutex mutex_;
  std::vector<Launch> launches_;
  std::int64_t blocks_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace trainscope::cuda
