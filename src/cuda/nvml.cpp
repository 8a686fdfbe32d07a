#include "cuda/nvml.h"

#include <algorithm>
#include <array>

#include "base/platform.h"
#include "base/text.h"

namespace trainscope::cuda {
namespace {

// The prototypes that are used, of NVIDIA's NVML API Reference; the toolkit has no header for them.
using Device = void*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kTooLittleRoom = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kSmClock = 1;           // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;       // NVML_CLOCK_MEM
constexpr int kTemperatureOfGpu = 0;  // NVML_TEMPERATURE_GPU

struct ProcessInfo {  // nvmlProcessInfo_t of the functions that end in _v3
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

class Library {
 public:
  explicit Library(const FindSymbol& find) : find_(find) {}

  // The status of a call; none where the library has no such function.
  template <typename... Arguments>
  std::optional<Status> call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Status (*)(Arguments...)>(find_(name));
    if (!function) return std::nullopt;
    return function(arguments...);
  }
  template <typename... Arguments>
  bool succeeds(const char* name, Arguments... arguments) const {
    return call(name, arguments...) == kSuccess;
  }
  // What a call writes as its last argument.
  template <typename... Arguments>
  std::optional<int> number(const char* name, Arguments... arguments) const {
    unsigned value = 0;
    if (!succeeds(name, arguments..., &value)) return std::nullopt;
    return static_cast<int>(value);
  }

 private:
  const FindSymbol& find_;
};

std::optional<double> watts(std::optional<int> milliwatts) {
  if (!milliwatts) return std::nullopt;
  return *milliwatts / 1000.0;
}

std::optional<bool> ecc_mode(const Library& nvml, Device device) {
  unsigned now = 0, pending = 0;
  if (!nvml.succeeds("nvmlDeviceGetEccMode", device, &now, &pending)) return std::nullopt;
  return now != 0;
}

std::optional<int> others_on(const Library& nvml, Device device) {
  constexpr const char* kName = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::array<ProcessInfo, 64> processes{};
  auto count = static_cast<unsigned>(processes.size());
  const auto status = nvml.call(kName, device, &count, processes.data());
  if (status == kTooLittleRoom) return static_cast<int>(count);
  if (status != kSuccess) return std::nullopt;
  const auto self = static_cast<unsigned>(platform::process_number());
  return static_cast<int>(
      std::count_if(processes.begin(), processes.begin() + count,
                    [&](const ProcessInfo& process) { return process.pid != self; }));
}

GpuState state_of(const Library& nvml, Device device) {
  GpuState state;
  std::array<char, 96> name{};
  if (nvml.succeeds("nvmlDeviceGetName", device, name.data(), static_cast<unsigned>(name.size())))
    state.name = name.data();
  state.pcie_generation = nvml.number("nvmlDeviceGetCurrPcieLinkGeneration", device);
  state.pcie_width = nvml.number("nvmlDeviceGetCurrPcieLinkWidth", device);
  state.most_pcie_generation = nvml.number("nvmlDeviceGetMaxPcieLinkGeneration", device);
  state.most_pcie_width = nvml.number("nvmlDeviceGetMaxPcieLinkWidth", device);
  if (const auto mode = nvml.number("nvmlDeviceGetPersistenceMode", device))
    state.persistence = *mode != 0;
  state.ecc = ecc_mode(nvml, device);
  state.power_limit_w = watts(nvml.number("nvmlDeviceGetPowerManagementLimit", device));
  state.default_power_limit_w =
      watts(nvml.number("nvmlDeviceGetPowerManagementDefaultLimit", device));
  state.sm_clock_mhz = nvml.number("nvmlDeviceGetClockInfo", device, kSmClock);
  state.most_sm_clock_mhz = nvml.number("nvmlDeviceGetMaxClockInfo", device, kSmClock);
  state.memory_clock_mhz = nvml.number("nvmlDeviceGetClockInfo", device, kMemoryClock);
  state.temperature_c = nvml.number("nvmlDeviceGetTemperature", device, kTemperatureOfGpu);
  state.other_processes = others_on(nvml, device);
  return state;
}

}  // namespace

GpuStates gpu_states() {
  void* library = platform::find_library("libnvidia-ml.so.1");
  if (!library) return {"NVIDIA's management library is missing (libnvidia-ml.so.1)", "", {}};
  return gpu_states([library](const char* name) { return platform::function_in(library, name); });
}

GpuStates gpu_states(const FindSymbol& find) {
  const Library nvml(find);
  GpuStates all;
  if (!nvml.succeeds("nvmlInit_v2")) {
    all.why_not = "NVIDIA's management library does not start (nvmlInit)";
    return all;
  }
  std::array<char, 96> driver{};
  if (nvml.succeeds("nvmlSystemGetDriverVersion", driver.data(),
                    static_cast<unsigned>(driver.size())))
    all.driver = driver.data();
  const int count = nvml.number("nvmlDeviceGetCount_v2").value_or(0);
  for (int i = 0; i < count; ++i) {
    Device device = nullptr;
    if (nvml.succeeds("nvmlDeviceGetHandleByIndex_v2", static_cast<unsigned>(i), &device))
      all.gpus.push_back(state_of(nvml, device));
  }
  if (all.gpus.empty()) all.why_not = "NVIDIA's management library shows no GPU";
  nvml.succeeds("nvmlShutdown");
  return all;
}

std::string clocks_in_words(const GpuState& state) {
  std::string words;
  const auto add = [&](std::string_view part) { add_to_list(words, part); };
  if (state.sm_clock_mhz)
    add("SM clock " + std::to_string(*state.sm_clock_mhz) +
        (state.most_sm_clock_mhz ? " of " + std::to_string(*state.most_sm_clock_mhz) : "") +
        " MHz");
  if (state.memory_clock_mhz)
    add("memory clock " + std::to_string(*state.memory_clock_mhz) + " MHz");
  if (state.temperature_c) add(std::to_string(*state.temperature_c) + " C");
  return words;
}

}  // namespace trainscope::cuda
