// The counters of a trace that tell what the SMs of a GPU hold, by the names of their lanes. Their
// kind is kCounter, their device the GPU; before the first sample they are 0.
#pragma once

#include <string_view>

namespace trainscope::sim {

inline constexpr std::string_view kBusySmsLane = "SMs with a block";
inline constexpr std::string_view kResidentWarpsLane = "resident warps";

}  // namespace trainscope::sim
