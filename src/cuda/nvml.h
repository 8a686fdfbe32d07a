// What NVIDIA's management library says of the GPUs here: state, limits, who else uses them. Loaded
// when asked for; without it nothing else changes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainscope::cuda {

// Nothing where the library, the driver or the GPU does not tell.
struct GpuState {
  std::string name;
  std::optional<int> pcie_generation, pcie_width;            // now; an idle link may be slower
  std::optional<int> most_pcie_generation, most_pcie_width;  // of GPU and slot together
  std::optional<bool> persistence;
  std::optional<bool> ecc;
  std::optional<double> power_limit_w, default_power_limit_w;
  std::optional<int> sm_clock_mhz, most_sm_clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<int> temperature_c;
  std::optional<int> other_processes;  // that compute on it
};

struct GpuStates {
  std::string why_not;  // nothing is known of any GPU; empty: it is
  std::string driver;   // "580.65.06"
  std::vector<GpuState> gpus;
};

// The function of that name in the library; null: it has none. In tests, another library's.
using FindSymbol = std::function<void*(const char* name)>;

// By libnvidia-ml.so.1.
GpuStates gpu_states();
GpuStates gpu_states(const FindSymbol& find);

// "SM clock 1980 of 1980 MHz, memory clock 2619 MHz, 41 C"; empty where nothing is known.
std::string clocks_in_words(const GpuState& state);

}  // namespace trainscope::cuda
