// What stands on one GPU, as it stands on another: the same with its number moved.
#pragma once

#include <string>

#include "trace/trace.h"

namespace trainscope::trace {

// A file may give a GPU any number: one that cannot be moved stays.
inline std::int32_t moved(std::int32_t device, std::int32_t further) {
  std::int32_t sum = 0;
  return __builtin_add_overflow(device, further, &sum) ? device : sum;
}

// Where a detail says that something was, moved by so many GPUs.
struct MovedDetail {
  std::int32_t further;

  Detail operator()(KernelDetail detail) const {
    detail.device = moved(detail.device, further);
    return detail;
  }
  Detail operator()(CopyDetail detail) const {
    detail.device = moved(detail.device, further);
    return detail;
  }
  Detail operator()(CollectiveDetail detail) const {
    detail.kernel.device = moved(detail.kernel.device, further);
    return detail;
  }
  Detail operator()(SyncDetail detail) const {
    detail.device = moved(detail.device, further);
    return detail;
  }
};

inline Detail moved(const Detail& detail, std::int32_t further) {
  return std::visit(MovedDetail{further}, detail);
}

// A lane without a GPU stays as it is. One that stands under its GPU's name gets the other's.
inline Lane moved(Lane lane, std::int32_t further) {
  if (lane.device < 0) return lane;
  const bool under_gpu = lane.group == "GPU " + std::to_string(lane.device);
  lane.device = moved(lane.device, further);
  if (under_gpu) lane.group = "GPU " + std::to_string(lane.device);
  return lane;
}

}  // namespace trainscope::trace
