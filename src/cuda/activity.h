// What a device did, as whoever watched it tells: one record a kernel, copy or fill.
//
// Times are nanoseconds of DeviceCalls::now(). Records come in any order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "program/program.h"

namespace trainscope::cuda {

// The number of a call of the executor that put work on a device; 0: none.
using CallId = std::uint32_t;

enum class ActivityKind : std::uint8_t { kKernel, kCopy, kMemset };

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  Nanos start = 0;
  Nanos end = 0;
  CallId call = 0;
  int gpu = 0;       // real
  std::string name;  // of a kernel
  // Of a kernel; a grid of no blocks is not known.
  std::int32_t grid[3] = {0, 0, 0};
  std::int32_t block[3] = {0, 0, 0};
  std::int32_t registers = 0;
  std::int64_t shared_bytes = 0;
  // Of a copy or fill.
  std::int64_t bytes = 0;
  program::MemoryKind from = program::MemoryKind::kDevice;
  program::MemoryKind to = program::MemoryKind::kDevice;
};

// Where and when one block of a kernel ran, as the kernel itself wrote it: nanoseconds of the
// device's own clock, which begins anywhere. Laid out as kernels::BlockRecord.
struct BlockRecord {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t sm = 0;
  std::uint32_t reserved = 0;
};

// Of one launch.
struct BlockTrace {
  CallId call = 0;
  std::vector<BlockRecord> blocks;
};

// How the times were taken.
enum class TimeSource : std::uint8_t {
  kTracer,  // by the device, of every kernel and copy
  kEvents   // by pairs of events around every call: what lies between them is one record
};

struct Activities {
  std::vector<Activity> records;
  TimeSource source = TimeSource::kTracer;
  std::int64_t dropped = 0;  // records that were lost for want of room
  std::int64_t untimed = 0;  // records without times, or with such as cannot be
  std::int64_t cut = 0;      // of the tracer's buffers: those that end before they should
  std::int64_t foreign = 0;  // records that belong to no call of ours
};

}  // namespace trainscope::cuda
