// NVIDIA's management library, as far as it can be played: functions by name that say what a test
// wants.

#include "cuda/nvml.h"

#include <catch2/catch.hpp>
#include <map>

using namespace trainscope;

namespace {

int works() {
  return 0;
}
int fails() {
  return 999;
}
int one_gpu(unsigned* count) {
  *count = 1;
  return 0;
}
int handle(unsigned, void** device) {
  *device = device;
  return 0;
}
int name(void*, char* text, unsigned) {
  std::strcpy(text, "NVIDIA H100 80GB HBM3");
  return 0;
}
int width(void*, unsigned* value) {
  *value = 8;
  return 0;
}
int limit(void*, unsigned* milliwatts) {
  *milliwatts = 350'500;
  return 0;
}
int megahertz_of(void*, int, unsigned* megahertz) {
  *megahertz = 1980;
  return 0;
}
int ecc(void*, unsigned* now, unsigned* pending) {
  *now = 1;
  *pending = 0;
  return 0;
}
int too_many(void*, unsigned* count, void*) {
  *count = 100;
  return 7;
}

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

cuda::GpuStates states(const std::map<std::string, void*>& functions) {
  return cuda::gpu_states([&](const char* wanted) -> void* {
    const auto found = functions.find(wanted);
    return found == functions.end() ? nullptr : found->second;
  });
}

}  // namespace

TEST_CASE("a GPU's state is what its library says, and what that does not say is not known") {
  const cuda::GpuStates all =
      states({{"nvmlInit_v2", address(works)},
              {"nvmlDeviceGetCount_v2", address(one_gpu)},
              {"nvmlDeviceGetHandleByIndex_v2", address(handle)},
              {"nvmlDeviceGetName", address(name)},
              {"nvmlDeviceGetCurrPcieLinkWidth", address(width)},
              {"nvmlDeviceGetPowerManagementLimit", address(limit)},
              {"nvmlDeviceGetClockInfo", address(megahertz_of)},
              {"nvmlDeviceGetEccMode", address(ecc)},
              {"nvmlDeviceGetTemperature", address(fails)},
              {"nvmlDeviceGetComputeRunningProcesses_v3", address(too_many)}});
  REQUIRE(all.why_not.empty());
  REQUIRE(all.gpus.size() == 1);
  const cuda::GpuState& gpu = all.gpus.front();
  CHECK(gpu.name == "NVIDIA H100 80GB HBM3");
  CHECK(gpu.pcie_width == 8);
  CHECK_FALSE(gpu.pcie_generation);
  REQUIRE(gpu.power_limit_w);
  CHECK(*gpu.power_limit_w == Approx(350.5));
  CHECK(gpu.ecc == true);
  CHECK_FALSE(gpu.temperature_c);
  CHECK(gpu.other_processes == 100);
  CHECK(cuda::clocks_in_words(gpu) == "SM clock 1980 MHz, memory clock 1980 MHz");
}

TEST_CASE("a library that does not start, or shows no GPU, says why in a few words") {
  CHECK_THAT(states({{"nvmlInit_v2", address(fails)}}).why_not, Catch::Contains("does not start"));
  CHECK_THAT(states({{"nvmlInit_v2", address(works)}}).why_not, Catch::Contains("shows no GPU"));
  CHECK_THAT(states({}).why_not, Catch::Contains("does not start"));
}
