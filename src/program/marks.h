// Names of marks that mean something to the analysis.
#pragma once

#include <string_view>

namespace trainscope::program {

// What lies between two calls of time.perf_counter() around a step.
inline constexpr std::string_view kTimerMark = "time.perf_counter()";

}  // namespace trainscope::program
