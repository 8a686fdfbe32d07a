// The kernels of one training step of a perceptron: inputs, hidden layers of one width with ReLU,
// classes; cross-entropy and SGD, as PyTorch launches them in eager mode.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace trainscope::train {

struct MlpShape {
  std::int64_t batch = 0;
  std::int64_t inputs = 784;  // 28 x 28 pixels
  std::int64_t hidden = 128;
  std::int64_t classes = 10;
  std::int64_t layers = 1;  // hidden ones

  std::int64_t parameters() const {
    return (inputs + 1) * hidden + (layers - 1) * (hidden + 1) * hidden + (hidden + 1) * classes;
  }
};

// Operations in launch order. Sizes count FP32 elements of 4 bytes.
std::vector<program::Operation> mlp_forward(const MlpShape& shape);
std::vector<program::Operation> mlp_loss(const MlpShape& shape);
std::vector<program::Operation> mlp_backward(const MlpShape& shape);
std::vector<program::Operation> mlp_sgd(const MlpShape& shape);

}  // namespace trainscope::train
