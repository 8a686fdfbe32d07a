#include "trace/chrome_shown.h"

#include "trace/api_name.h"
#include "trace/chrome_layout.h"

namespace trainscope::trace::chrome {
namespace {

EventKind kind_on_device(Category category) {
  if (is_kernel(category) || category == Category::kCollective) return EventKind::kKernel;
  if (is_copy(category)) return EventKind::kMemcpy;
  if (category == Category::kMemset) return EventKind::kMemset;
  if (category == Category::kSync) return EventKind::kSync;
  if (category == Category::kAnnotation) return EventKind::kGpuAnnotation;
  return EventKind::kOwn;
}

EventKind kind_on_host(Category category, std::string_view name) {
  switch (category) {
    case Category::kHostApi:
      return EventKind::kRuntime;
    case Category::kHeld:
      return is_api_name(name) ? EventKind::kRuntime : EventKind::kOperator;
    case Category::kAnnotation:
      return EventKind::kAnnotation;
    case Category::kHostWork:
    case Category::kLoader:
    case Category::kPin:
    case Category::kStaging:
    case Category::kOther:
      return EventKind::kOperator;
    default:
      return EventKind::kOwn;
  }
}

}  // namespace

std::string_view cat_of(EventKind kind) {
  switch (kind) {
    case EventKind::kOperator:
      return "cpu_op";
    case EventKind::kAnnotation:
      return "user_annotation";
    case EventKind::kRuntime:
      return "cuda_runtime";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kMemcpy:
      return "gpu_memcpy";
    case EventKind::kMemset:
      return "gpu_memset";
    case EventKind::kSync:
      return "cuda_sync";
    case EventKind::kGpuAnnotation:
      return "gpu_user_annotation";
    default:
      return "trainscope";
  }
}

EventKind shown_kind(const Lane& lane, Category category, std::string_view name) {
  if (is_host_lane(lane.kind)) return kind_on_host(category, name);
  if (lane.kind == LaneKind::kStream) return kind_on_device(category);
  const bool beside_stream = lane.kind == LaneKind::kOther && lane.device >= 0;
  if (beside_stream && (category == Category::kAnnotation || category == Category::kSync))
    return kind_on_device(category);
  return EventKind::kOwn;
}

std::string shown_name(EventKind kind, Category category, const std::string& name,
                       const Detail* detail) {
  if (kind == EventKind::kMemcpy && !name.starts_with("Memcpy ")) {
    const auto* copy = detail ? std::get_if<CopyDetail>(detail) : nullptr;
    return copy ? copy_name(category, copy->from, copy->to)
                : copy_name(category, Memory::kUnknown, Memory::kUnknown);
  }
  if (kind == EventKind::kMemset && !name.starts_with("Memset")) return "Memset (Device)";
  if (kind == EventKind::kKernel && category == Category::kCollective &&
      !name_facts(name).collective)
    return "ncclDevKernel_" + name;
  return name;
}

}  // namespace trainscope::trace::chrome
