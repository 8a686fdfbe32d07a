#include "cuda/plugin/require.h"

#include "base/error.h"
#include "cuda/device_calls.h"

namespace trainscope::cuda {

std::string place_of(std::string_view file, int line) {
  const auto from = file.rfind("src/cuda/");
  return std::string(from == std::string_view::npos ? file : file.substr(from)) + ":" +
         std::to_string(line);
}

// CUDA Runtime API, "cudaError": those that say "the process must be terminated and relaunched".
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

void require(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const std::string what = std::string(cudaGetErrorString(status)) + " (" +
                           cudaGetErrorName(status) + ", " + call + " at " + place_of(file, line) +
                           ")";
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfDeviceMemory("the GPU has no room for this run: " + what +
                            "; make the batch or the model smaller");
  }
  if (is_sticky(status))
    throw DeviceLost("the GPU stopped and can do nothing more in this process: " + what +
                     "; start the program again");
  cudaGetLastError();
  throw Error(Fault::kMissing, "the GPU refused a call: " + what);
}

}  // namespace trainscope::cuda
