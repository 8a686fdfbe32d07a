#include "cli/gpu_entries.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/platform.h"

namespace trainscope::cli {
namespace {

using report::DoctorEntry;

// Counters of the hardware, not the timeline: facts of CUPTI since CUDA 10.2
// (developer.nvidia.com/ERR_NVGPUCTRPERM). The driver writes the option without "NVreg_".
DoctorEntry counters_entry(const std::string& settings) {
  const bool restricted = settings.find("RmProfilingAdminOnly: 1") != std::string::npos;
  const bool allowed = !restricted || platform::is_administrator();
  return {
      "hardware counters", allowed,
      allowed ? "may be read" : "only by an administrator (NVreg_RestrictProfilingToAdminUsers)",
      allowed ? "" : "nothing here: timelines need no counters, other profilers do"};
}

std::string link_words(int generation, int width) {
  return "generation " + std::to_string(generation) + ", x" + std::to_string(width);
}

DoctorEntry link_entry(const std::string& gpu, const cuda::GpuState& state) {
  const bool is_known = state.pcie_width && state.pcie_generation;
  const bool has_most = state.most_pcie_width && state.most_pcie_generation;
  if (!is_known) return {gpu + ", PCIe", true, "not told by the driver", ""};
  const std::string now = link_words(*state.pcie_generation, *state.pcie_width);
  if (!has_most) return {gpu + ", PCIe", true, now, ""};
  const std::string most = link_words(*state.most_pcie_generation, *state.most_pcie_width);
  // An idle link is slower and gets faster once it is used; it does not get wider.
  const bool narrow = *state.pcie_width < *state.most_pcie_width;
  return {gpu + ", PCIe", !narrow, now + " now, at most " + most,
          narrow ? "copies are slower than GPU and slot allow: is the card seated well?" : ""};
}

DoctorEntry power_entry(const std::string& gpu, const cuda::GpuState& state) {
  if (!state.power_limit_w) return {gpu + ", power limit", true, "not told by the driver", ""};
  const auto watts = [](double value) { return std::to_string(std::lround(value)) + " W"; };
  const bool lowered =
      state.default_power_limit_w && *state.power_limit_w < 0.99 * *state.default_power_limit_w;
  return {gpu + ", power limit", !lowered,
          watts(*state.power_limit_w) +
              (lowered ? " of " + watts(*state.default_power_limit_w) : std::string()),
          lowered ? "long products run at lower clocks than those of such a GPU elsewhere" : ""};
}

DoctorEntry flag_entry(const std::string& what, std::optional<bool> flag, bool wanted,
                       const char* otherwise) {
  if (!flag) return {what, true, "not told by the driver", ""};
  const bool fine = !wanted || *flag;
  return {what, fine, *flag ? "on" : "off", fine ? "" : otherwise};
}

DoctorEntry others_entry(const std::string& gpu, const cuda::GpuState& state) {
  if (!state.other_processes) return {gpu + ", other processes", true, "not told", ""};
  const int others = *state.other_processes;
  return {gpu + ", other processes", others == 0,
          others == 0 ? "none" : std::to_string(others) + " compute on it",
          others == 0 ? ""
                      : "what is measured now is measured beside them; in a container one of them "
                        "may be this program"};
}

}  // namespace

std::string read_driver_settings() {
  std::ifstream file("/proc/driver/nvidia/params");
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::vector<DoctorEntry> gpu_entries(const cuda::GpuStates& states,
                                     const std::string& driver_settings) {
  if (!states.why_not.empty())
    return {{"GPU's state", false, states.why_not,
             "link, clocks, power and other processes are not known"}};
  std::vector<DoctorEntry> all{{"driver", true, states.driver, ""},
                               counters_entry(driver_settings)};
  int number = 0;
  for (const cuda::GpuState& state : states.gpus) {
    const std::string gpu = "GPU " + std::to_string(number++);
    all.push_back({gpu, true, state.name + ": " + cuda::clocks_in_words(state), ""});
    all.push_back(link_entry(gpu, state));
    all.push_back(flag_entry(gpu + ", persistence", state.persistence, true,
                             "the first run waits seconds for the driver to start"));
    all.push_back(flag_entry(gpu + ", ECC", state.ecc, false, ""));
    all.push_back(power_entry(gpu, state));
    all.push_back(others_entry(gpu, state));
  }
  return all;
}

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  std::vector<std::string> all = folders;
  std::istringstream words(platform::variable("PATH").value_or(""));
  for (std::string folder; std::getline(words, folder, platform::kBetweenFolders);)
    all.push_back(folder);
  std::error_code ignored;
  for (const std::string& folder : all)
    if (const auto file = std::filesystem::path(folder) / (name + platform::kProgramEnding);
        platform::may_run(file) && std::filesystem::is_regular_file(file, ignored))
      return file.string();
  return "";
}

}  // namespace trainscope::cli
