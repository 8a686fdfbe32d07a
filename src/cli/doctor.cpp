// `trainscope doctor`: what this machine has, what is missing, and what that switches off.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/platform.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/gpu_entries.h"
#include "cuda/plugin_loader.h"
#include "machine/machine.h"
#include "report/json.h"
#include "scenario/lesson.h"

namespace trainscope::cli {
namespace {

using report::DoctorEntry;

bool loads(const std::vector<const char*>& libraries) {
  return std::any_of(libraries.begin(), libraries.end(), [](const char* library) {
    return platform::find_library(library) != nullptr;
  });
}

// The number of CUDA devices that the driver shows; -1: there is no driver.
int cuda_devices() {
  void* driver = platform::find_library("libcuda.so.1");
  if (!driver) return -1;
  using Init = int (*)(unsigned);
  using Count = int (*)(int*);
  const auto init = reinterpret_cast<Init>(platform::function_in(driver, "cuInit"));
  const auto count = reinterpret_cast<Count>(platform::function_in(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (!init || !count || init(0) != 0 || count(&devices) != 0) devices = 0;
  return devices;
}

DoctorEntry files_entry() {
  try {
    const scenario::Shelf shelf = scenario::readable_lessons();
    const std::string found = std::to_string(shelf.lessons.size()) + " lessons, " +
                              std::to_string(machine::machine_ids().size()) + " machines in " +
                              home_folder().string();
    if (shelf.unreadable.empty()) return {"lessons and machines", true, found, ""};
    return {"lessons and machines", false, found + "; not read: " + shelf.unreadable.front(),
            counted(shelf.unreadable.size(), "lesson") + " cannot be opened"};
  } catch (const Error& error) {
    return {"lessons and machines", false, error.what(), "no lesson can be opened"};
  }
}

DoctorEntry gpu_entry() {
  const int devices = cuda_devices();
  const std::string found = devices < 0    ? "no driver (libcuda.so.1)"
                            : devices == 0 ? "a driver, and no device that works"
                                           : std::to_string(devices) + " devices";
  return {"NVIDIA GPU", devices > 0, found,
          devices > 0 ? "" : "every run is simulated; nothing else is missing"};
}

// The plug-in, and a device that it can use.
DoctorEntry executor_entry() {
  constexpr const char* kSwitchesOff = "runs are simulated: --executor cuda ends with a sentence";
  try {
    const cuda::DeviceFacts facts = cuda::open_device(cuda::plugin_folder())->facts();
    return {"executor cuda", true, facts.name + ", " + facts.driver, ""};
  } catch (const Error& error) {
    return {"executor cuda", false, error.what(), kSwitchesOff};
  }
}

DoctorEntry library_entry(const char* what, const std::vector<const char*>& names,
                          const char* switches_off) {
  const bool found = loads(names);
  return {what, found, found ? "found" : std::string("not found: ") + names.front(),
          found ? "" : switches_off};
}

#ifdef TRAINSCOPE_HAS_UI
DoctorEntry window_entry() {
  const bool display = platform::has_display();
  return {"display", display, display ? "found" : "DISPLAY is not set",
          display ? "" : "the window cannot open; --png, --html and --json still work"};
}
#else
DoctorEntry window_entry() {
  return {"window", false, "the program was built without it",
          "no window and no --png; --html and --json still work"};
}
#endif

// The compiler is needed to build the plug-in, not to use it.
DoctorEntry toolkit_entry() {
  const std::string nvcc = find_program("nvcc", {"/usr/local/cuda/bin"});
  return {
      "CUDA toolkit", !nvcc.empty(), nvcc.empty() ? "no nvcc" : nvcc,
      nvcc.empty() ? "the plug-in for GPUs cannot be built here; one built elsewhere works" : ""};
}

DoctorEntry picture_entry() {
  if (platform::kAlwaysHasDisplay)
    return {"off-screen drawing", true, "in a window that is not shown", ""};
  return library_entry("off-screen drawing", {"libOSMesa.so.8", "libOSMesa.so.6"},
                       "--png needs it: install libosmesa6");
}

std::vector<DoctorEntry> device_entries() {
  std::vector<DoctorEntry> all{
      gpu_entry(),
      toolkit_entry(),
      executor_entry(),
      library_entry("CUPTI", {"libcupti.so.13"},
                    "measured timelines have the times of events alone (with a GPU)"),
      library_entry("cuBLASLt", {"libcublasLt.so.13"}, "measured matrix products (with a GPU)"),
      library_entry("cuDNN", {"libcudnn.so.9"},
                    "measured convolutions on tensor cores: kernels of our own take their place"),
      library_entry("NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"},
                    "measured fused kernels read their steps: slower than compiled ones (with a "
                    "GPU)"),
      library_entry("NCCL", {"libnccl.so.2"},
                    "measured collectives are a ring of copies (with several GPUs)")};
  const std::vector<DoctorEntry> states = gpu_entries(cuda::gpu_states(), read_driver_settings());
  all.insert(all.end(), states.begin(), states.end());
  return all;
}

std::vector<DoctorEntry> examine() {
  std::vector<DoctorEntry> all{files_entry(), window_entry(), picture_entry()};
  const std::vector<DoctorEntry> gpus =
      cuda::can_have_plugin() ? device_entries() : std::vector{executor_entry()};
  all.insert(all.end(), gpus.begin(), gpus.end());
  return all;
}

}  // namespace

int doctor_command(bool json) {
  const std::vector<DoctorEntry> entries = examine();
  if (json) {
    std::cout << report::doctor_json(entries) << "\n";
    return 0;
  }
  for (const DoctorEntry& entry : entries) {
    std::cout << (entry.found ? "yes  " : "no   ") << entry.what << ": " << entry.detail << "\n";
    if (!entry.switches_off.empty()) std::cout << "     " << entry.switches_off << "\n";
  }
  return 0;
}

}  // namespace trainscope::cli
