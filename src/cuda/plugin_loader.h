// Loads the plug-in when a GPU is asked for; a program that never asks is unchanged by it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "cuda/device_calls.h"

namespace trainscope::cuda {

using OpenDevice = std::unique_ptr<DeviceCalls, std::function<void(DeviceCalls*)>>;

inline constexpr const char* kPluginFile = "libtrainscope_cuda.so";

// Whether there is a plug-in for this system at all. Without, open_device() says so.
bool can_have_plugin();

// The device of that number. `folder`: where the plug-in is looked for (plugin_folder). Throws
// MissingError with the reason alone, for the caller to say what to do instead (own_device.h): the
// plug-in is not there or of another version, there is no driver, no GPU, or one that is too old.
OpenDevice open_device(const std::filesystem::path& folder, int number = 0);

// Where the plug-in of the program that runs is: beside it, as it is built; lib/trainscope beside
// the bin/ of an installed one.
std::filesystem::path plugin_folder();

}  // namespace trainscope::cuda
