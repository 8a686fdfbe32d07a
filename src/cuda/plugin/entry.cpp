// What the program finds in the plug-in (../plugin_loader.h).

#include <cstdio>
#include <exception>

#include "cuda/plugin/real_device.h"
#include "cuda/plugin_interface.h"

using namespace trainscope;

extern "C" int trainscope_cuda_version() {
  return cuda::kPluginVersion;
}

extern "C" cuda::DeviceCalls* trainscope_cuda_open(int number, char* why, std::size_t room) {
  try {
    return new cuda::RealDevice(number);
  } catch (const std::exception& error) {
    std::snprintf(why, room, "%s", error.what());
    return nullptr;
  }
}

extern "C" void trainscope_cuda_close(cuda::DeviceCalls* device) {
  delete device;
}
