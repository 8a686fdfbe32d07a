// The GPU of the machine that the program runs on, for callers that do different things without.
#pragma once

#include <string_view>

#include "cuda/plugin_loader.h"

namespace trainscope::cuda {

inline constexpr std::string_view kSimulateInstead = "--executor sim simulates the same run";

// By the plug-in of the program that runs (plugin_folder). Throws MissingError: why there is none,
// "; " and what to do `instead`.
OpenDevice open_own_device(std::string_view instead);

}  // namespace trainscope::cuda
