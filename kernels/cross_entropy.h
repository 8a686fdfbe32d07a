// Softmax and cross-entropy in one, mean over rows, with the gradient in place:
// torch.nn.functional.cross_entropy and its backward. CPU reference: tests/host/cross_entropy.h.
//
// logits [rows, classes] become their gradients, targets [rows]:
//   loss = mean over rows of (log Σ_c exp x[r, c] - x[r, target]);
//   dx[r, c] = (softmax(x)[r, c] - [c = target]) · dloss / rows.
// A row whose target is kIgnoredTarget counts nowhere and its gradient is 0; if all are such, the
// loss is NaN. A target that is no class stops the device (__trap), as PyTorch's assertion does.
// Error: the loss within a few units in its last place, a gradient within a few of dloss / rows.
// T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// PyTorch's ignore_index.
inline constexpr std::int64_t kIgnoredTarget = -100;

// Floats to work in.
std::size_t cross_entropy_workspace(const Matrix& shape);

// `dloss` is the gradient of the loss, in device memory: the scale of a gradient scaler. Null is 1.
template <typename T>
void cross_entropy(Stream stream, const Matrix& shape, T* logits, const std::int64_t* targets,
                   const float* dloss, float* workspace, float* loss);

}  // namespace trainscope::kernels
