// Which kernels of a recorded trace multiply matrices: those that FP16, BF16 or a better layout
// make faster.
#pragma once

#include <string_view>

namespace trainscope::train {

// By its name, as cuBLAS, cuDNN, CUTLASS, Triton and PyTorch give them: matrix products,
// convolutions and fused attention. What only turns tensors round for one is none.
bool is_product(std::string_view kernel);

}  // namespace trainscope::train
