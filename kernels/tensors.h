// Tensors that one kernel walks, however many there are: torch._foreach_* and fused optimizers.
//
// A list is passed as a std::span, any length, any sizes, none among them; what lies in it is on
// the host, what it points to is not. As many tensors as fit a kernel's parameters are one launch.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/device.h"

namespace trainscope::kernels {

template <typename T>
struct Tensor {
  T* values = nullptr;
  std::size_t count = 0;
};

}  // namespace trainscope::kernels
