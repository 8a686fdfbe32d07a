// Records of NVIDIA's tracer (CUPTI Activity) as activities: which call of ours they belong to,
// what they are called.
//
// It knows no header of CUPTI: the plug-in copies what it needs of each record into these structs,
// so that decoding is tested with records made up. Numbers of enumerations are those of
// cupti_activity.h (13.0); times are on the clock that the tracer was given, DeviceCalls::now().
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "cuda/activity.h"

namespace trainscope::cuda {

struct TracedKernel {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;  // with the driver's or runtime's call
  std::uint32_t gpu = 0;
  const char* name = nullptr;  // as the linker has it; kept by the tracer until the process ends
  std::int32_t grid[3] = {0, 0, 0};
  std::int32_t block[3] = {0, 0, 0};
  std::int32_t registers = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic
};
struct TracedCopy {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
  std::uint8_t from = 0;  // CUpti_ActivityMemoryKind
  std::uint8_t to = 0;
};
struct TracedFill {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
};
// A call of the runtime or driver was made within a call of ours.
struct TracedCall {
  std::uint32_t correlation = 0;
  std::uint64_t ours = 0;
};
using TracedRecord = std::variant<TracedKernel, TracedCopy, TracedFill, TracedCall>;

class ActivityDecoder {
 public:
  // In any order: work may be told before the call that it belongs to.
  void add(const TracedRecord& record) { records_.push_back(record); }
  // Records that the tracer had no room for.
  void add_dropped(std::int64_t count) { dropped_ += count; }

  // All since the last time. Records without times (work that was never done) and with such as lie
  // outside `earliest` to `latest` by more than a second (another clock's) are dropped; those of no
  // call of ours, as of another library, are foreign.
  Activities take(Nanos earliest = 0, Nanos latest = std::numeric_limits<Nanos>::max());

 private:
  const std::string& name_of(const char* mangled);

  std::vector<TracedRecord> records_;
  std::unordered_map<const char*, std::string> names_;
  std::int64_t dropped_ = 0;
};

// "map_kernel<Sum, float>" of "void trainscope::kernels::(anonymous
// namespace)::map_kernel<...>(...)".
std::string short_kernel_name(const char* mangled);

}  // namespace trainscope::cuda
