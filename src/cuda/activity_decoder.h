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
  std::uint32_t graph = 0;        // that it was launched with; 0: none, as below
  std::uint64_t node = 0;         // of the graph
};
struct TracedCopy {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
  std::uint8_t from = 0;  // CUpti_ActivityMemoryKind
  std::uint8_t to = 0;
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};
struct TracedFill {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};
// A call of the runtime or driver was made within a call of ours.
struct TracedCall {
  std::uint32_t correlation = 0;
  std::uint64_t ours = 0;
};
using TracedRecord = std::variant<TracedKernel, TracedCopy, TracedFill, TracedCall>;
// A graph was launched in a call of ours. The tracer numbers executable graphs, and those that they
// were made of; which of both its records have is not said.
struct TracedLaunch {
  std::uint32_t graph = 0;
  std::uint32_t made_of = 0;
  CallId ours = 0;
};

class ActivityDecoder {
 public:
  // In any order: work may be told before the call that it belongs to.
  void add(const TracedRecord& record) { records_.push_back(record); }
  // Of a tracer whose correlations are wrong for graphs, in the order of the launches: a node's
  // work is then of the first, second ... launch of its graph by the order of its starts. Where as
  // many launches as there is work of a node are not known, nobody can say whose it is.
  void add(const TracedLaunch& launch) { launches_.push_back(launch); }
  // Records that the tracer had no room for.
  void add_dropped(std::int64_t count) { dropped_ += count; }
  // A buffer of records that ends before it should.
  void add_cut() { ++cut_; }

  // All since the last time. Records without times (work that was never done, or that the tracer
  // could not time) and with such as lie outside `earliest` to `latest` by more than a second
  // (another clock's) are untimed; those of no call of ours, as of another library, are foreign.
  Activities take(Nanos earliest = 0, Nanos latest = std::numeric_limits<Nanos>::max());

 private:
  using Calls = std::unordered_map<std::uint32_t, CallId>;
  Calls calls_by_correlation() const;
  // By the record's place; nothing of one that is of no graph whose launches were told.
  std::unordered_map<std::size_t, CallId> calls_by_graph() const;
  const std::string& name_of(const char* mangled);

  std::vector<TracedRecord> records_;
  std::vector<TracedLaunch> launches_;
  std::unordered_map<const char*, std::string> names_;
  std::int64_t dropped_ = 0;
  std::int64_t cut_ = 0;
};

// "map_kernel<Sum, float>" of "void trainscope::kernels::(anonymous
// namespace)::map_kernel<...>(...)".
std::string short_kernel_name(const char* mangled);

}  // namespace trainscope::cuda
