#include "cuda/plugin/require.h"

#include <atomic>

#include "base/error.h"
#include "cuda/device_calls.h"

namespace trainscope::cuda {
namespace {

// The runtime's last error is of one thread, and of calls through this copy of it; the device is
// lost for the process.
std::atomic<bool>& lost() {
  static std::atomic<bool> is_lost = false;
  return is_lost;
}

}  // namespace

bool was_device_lost() {
  return lost();
}

std::string place_of(std::string_view file, int line) {
  const auto from = file.rfind("src/cuda/");
  return std::string(from == std::string_view::npos ? file : file.substr(from)) + ":" +
         std::to_string(line);
}

bool has_come(cudaError_t queried, const char* call, const char* file, int line) {
  if (queried != cudaErrorNotReady) {
    require(queried, call, file, line);
    return true;
  }
  cudaGetLastError();
  return false;
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
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
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
  if (is_sticky(status)) {
    lost() = true;
    throw DeviceLost("the GPU stopped and can do nothing more in this process: " + what +
                     "; start the program again");
  }
  cudaGetLastError();
  throw Error(Fault::kMissing, "the GPU refused a call: " + what);
}

}  // namespace trainscope::cuda
