// What PyTorch's profiler calls the mark of a step: "ProfilerStep#4".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::trace {

inline constexpr std::string_view kStepMark = "ProfilerStep#";

inline std::string step_mark(std::int64_t step) {
  return std::string(kStepMark) + std::to_string(step);
}

}  // namespace trainscope::trace
