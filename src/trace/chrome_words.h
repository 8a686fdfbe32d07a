// The words of Chrome-trace files: what a `cat` means, what a name says. Shared by reader and
// writer.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace trainscope::trace::chrome {

// What an event is, from its `cat`. The schemas of 2021, 2022 and now differ only in spelling.
enum class EventKind : std::uint8_t {
  kUnknown,
  kOperator,    // cpu_op
  kAnnotation,  // user_annotation
  kPython,      // python_function
  kRuntime,     // cuda_runtime, cuda_driver and the like of other makers
  kKernel,
  kMemcpy,
  kMemset,
  kSync,           // cuda_sync, cuda_event
  kGpuAnnotation,  // a user annotation seen from the device
  kLaunchFlow,     // ac2g
  kForwardBackwardFlow,
  kEventFlow,  // flows that only our own files have
  kDataFlow,
  kGradientFlow,
  kOwn,     // a span that PyTorch has no word for
  kRecord,  // Trace: from when to when the profiler recorded, which is nothing that the run did
};
EventKind event_kind(std::string_view cat);
bool is_flow(EventKind kind);
bool is_on_device(EventKind kind);
FlowKind flow_kind(EventKind kind);        // of a kind for which is_flow holds
std::string_view flow_cat(FlowKind kind);  // the `cat` that the writer gives it

// The phase of a training step that a host span's name tells.
enum class Phase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };

// What the training thread does within `next` of a DataLoader's iterator: it loads the batch
// itself, or waits for worker processes.
enum class NextBatch : std::uint8_t { kNone, kLoads, kWaits };

// What a name says, found out once for each distinct name.
struct NameFacts {
  bool collective = false;  // a kernel of NCCL, or of RCCL
  bool holds = false;       // a call that holds its thread until the device has caught up
  bool step = false;        // ProfilerStep#7
  bool by_gloo = false;     // a collective that a host thread carries out: gloo:all_reduce
  Phase phase = Phase::kNone;
  NextBatch next_batch = NextBatch::kNone;
  Category copy = Category::kCopyD2D;  // of a copy of this name
  Memory from = Memory::kUnknown;
  Memory to = Memory::kUnknown;
};
NameFacts name_facts(std::string_view name);

// Whether a call of the CUDA runtime or driver, or of another maker's, holds its thread by its name
// alone: it synchronises, or it is a copy that is not called asynchronous.
bool is_holding_call(std::string_view name);

// The category of an event of this kind and name, before phases are known.
Category plain_category(EventKind kind, const NameFacts& facts);
// What a host span of this kind and name waited for, where that alone tells it.
Cause plain_cause(EventKind kind, const NameFacts& facts);

// "Memcpy HtoD (Pinned -> Device)".
std::string copy_name(Category category, Memory from, Memory to);

}  // namespace trainscope::trace::chrome
