#include "trace/trace.h"

namespace trainscope::trace {

std::string_view badge(OriginKind kind) {
  switch (kind) {
    case OriginKind::kSimulated:
      return "SIMULATED";
    case OriginKind::kMeasured:
      return "MEASURED";
    case OriginKind::kImported:
      return "IMPORTED";
  }
  return "";
}

std::string_view name_of(Category category) {
  switch (category) {
    case Category::kHostWork:
      return "host work";
    case Category::kHostApi:
      return "CUDA call";
    case Category::kHeld:
      return "held";
    case Category::kLoader:
      return "loader";
    case Category::kPin:
      return "pin";
    case Category::kStaging:
      return "staging";
    case Category::kKernel:
      return "kernel";
    case Category::kForward:
      return "forward";
    case Category::kBackward:
      return "backward";
    case Category::kOptimizer:
      return "optimizer";
    case Category::kCopyH2D:
      return "copy H2D";
    case Category::kCopyD2H:
      return "copy D2H";
    case Category::kCopyD2D:
      return "copy D2D";
    case Category::kMemset:
      return "memset";
    case Category::kCollective:
      return "collective";
    case Category::kSync:
      return "synchronisation";
    case Category::kAnnotation:
      return "mark";
    case Category::kOther:
      return "other";
  }
  return "";
}

bool is_kernel(Category category) {
  return category == Category::kKernel || category == Category::kForward ||
         category == Category::kBackward || category == Category::kOptimizer;
}

bool is_copy(Category category) {
  return category == Category::kCopyH2D || category == Category::kCopyD2H ||
         category == Category::kCopyD2D;
}

bool is_gpu_work(Category category) {
  return is_kernel(category) || is_copy(category) || category == Category::kMemset ||
         category == Category::kCollective;
}

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::kNothing:
      return "nothing";
    case Cause::kProgram:
      return "the command before it";
    case Cause::kLaunch:
      return "its launch";
    case Cause::kStream:
      return "earlier work of its stream";
    case Cause::kEvent:
      return "an event of another stream";
    case Cause::kEngine:
      return "the copy engine";
    case Cause::kStaging:
      return "the staging copy";
    case Cause::kDevice:
      return "device work";
    case Cause::kData:
      return "data";
    case Cause::kCore:
      return "a host core";
    case Cause::kLock:
      return "the interpreter lock";
    case Cause::kRoom:
      return "room on the SMs";
    case Cause::kPeer:
      return "another rank";
  }
  return "";
}

std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::kUnknown:
      return "Unknown";
    case Memory::kPageable:
      return "Pageable";
    case Memory::kPinned:
      return "Pinned";
    case Memory::kDevice:
      return "Device";
    case Memory::kManaged:
      return "Managed";
    case Memory::kArray:
      return "Array";
  }
  return "";
}

std::string_view name_of(AllocatorAction action) {
  switch (action) {
    case AllocatorAction::kSegmentAlloc:
      return "segment_alloc";
    case AllocatorAction::kSegmentFree:
      return "segment_free";
    case AllocatorAction::kAlloc:
      return "alloc";
    case AllocatorAction::kFreeRequested:
      return "free_requested";
    case AllocatorAction::kFreeCompleted:
      return "free_completed";
    case AllocatorAction::kRetry:
      return "retry";
    case AllocatorAction::kOutOfMemory:
      return "oom";
  }
  return "";
}

NameId Trace::intern(std::string_view name) {
  if (const auto found = name_ids_.find(name); found != name_ids_.end()) return found->second;
  const NameId id = names_.push_back(std::string(name));
  name_ids_.emplace(std::string(name), id);
  return id;
}

SpanId Trace::add_span(const Span& span) {
  const SpanId id = spans_.push_back(span);
  if (span.end() > end_.load(std::memory_order_relaxed))
    end_.store(span.end(), std::memory_order_release);
  return id;
}

std::int64_t Trace::dropped_events() const {
  std::int64_t count = 0;
  for (std::uint32_t i = 0, n = dropped_.size(); i < n; ++i)
    if (dropped_[i].complete_event) count += dropped_[i].count;
  return count;
}

}  // namespace trainscope::trace
