#include <string>

#include "base/error.h"
#include "kernels/device.h"

namespace trainscope::kernels {

void require_launched(const char* kernel, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw Error(Fault::kMissing, std::string("the GPU did not start kernel ") + kernel + ": " +
                                   cudaGetErrorString(status));
}

}  // namespace trainscope::kernels
