// Names of marks that mean something to the analysis.
#pragma once

#include <string_view>

namespace trainscope::program {

// What lies between two calls of time.perf_counter() around a step.
inline constexpr std::string_view kTimerMark = "time.perf_counter()";
// What lies between two training steps and belongs to neither: the model is only looked at.
inline constexpr std::string_view kValidationMark = "Validation";
// The search for the fastest way to compute a convolution of a new shape.
inline constexpr std::string_view kBenchmarkMark = "cudnn.benchmark";

}  // namespace trainscope::program
