// The functions of libtrainscope_cuda.so, by which the program gets a device.
#pragma once

#include <cstddef>
#include <variant>

#include "cuda/device_calls.h"

namespace trainscope::cuda {

// Goes up with every change of device_calls.h, activity.h or program/program.h's operations: a
// plug-in of another number is refused.
inline constexpr int kPluginVersion = 15;
static_assert(std::variant_size_v<program::Function> == 38,
              "functions are told apart by their places: raise kPluginVersion with them");

}  // namespace trainscope::cuda

extern "C" {
int trainscope_cuda_version();
// Null where there is no device to use, with the reason in `why`: one sentence, ended by a zero.
trainscope::cuda::DeviceCalls* trainscope_cuda_open(int number, char* why, std::size_t room);
void trainscope_cuda_close(trainscope::cuda::DeviceCalls* device);
}
