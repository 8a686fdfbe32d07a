#include "train/mlp.h"

#include <fmt/format.h>

namespace trainscope::train {
namespace {

using program::Operation;
using program::OperationKind;

constexpr std::int64_t kFloat = 4;  // bytes
constexpr std::int64_t kTile = 64;  // rows and columns of an SGEMM's tile
constexpr int kThreads = 256;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// C[m,n] = A[m,k] B[k,n]: 2mnk operations; each matrix is read or written once.
Operation gemm(const char* framework, std::int64_t m, std::int64_t n, std::int64_t k) {
  Operation op;
  op.kernel = fmt::format("gemm {}x{}x{}", m, n, k);
  op.framework = framework;
  op.kind = OperationKind::kGemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  op.bytes = static_cast<double>(kFloat) * static_cast<double>(m * k + k * n + m * n);
  op.blocks = ceil_div(m, kTile) * ceil_div(n, kTile);
  op.threads = kThreads;
  return op;
}

// `touched` is how many arrays of `elements` are read or written in all.
Operation pointwise(const char* kernel, const char* framework, OperationKind kind,
                    std::int64_t elements, int flops_each, int touched) {
  Operation op;
  op.kernel = kernel;
  op.framework = framework;
  op.kind = kind;
  op.m = elements;
  op.flops = static_cast<double>(flops_each) * static_cast<double>(elements);
  op.bytes = static_cast<double>(touched * kFloat) * static_cast<double>(elements);
  op.blocks = ceil_div(elements, kThreads * 4);  // four elements a thread: 16-byte loads
  op.threads = kThreads;
  return op;
}

}  // namespace

std::vector<Operation> mlp_forward(const MlpShape& s) {
  std::vector<Operation> operations;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    operations.push_back(gemm("aten::addmm", s.batch, s.hidden, layer == 0 ? s.inputs : s.hidden));
    operations.push_back(
        pointwise("relu", "aten::relu", OperationKind::kElementwise, s.batch * s.hidden, 1, 2));
  }
  operations.push_back(gemm("aten::addmm", s.batch, s.classes, s.hidden));
  return operations;
}

std::vector<Operation> mlp_loss(const MlpShape& s) {
  return {pointwise("log_softmax", "aten::log_softmax", OperationKind::kSoftmaxLoss,
                    s.batch * s.classes, 5, 2),
          pointwise("nll_loss", "aten::nll_loss", OperationKind::kReduction, s.batch, 1, 2)};
}

std::vector<Operation> mlp_backward(const MlpShape& s) {
  std::vector<Operation> operations{
      pointwise("nll_loss_backward", "NllLossBackward0", OperationKind::kSoftmaxLoss,
                s.batch * s.classes, 1, 1),
      pointwise("log_softmax_backward", "LogSoftmaxBackward0", OperationKind::kSoftmaxLoss,
                s.batch * s.classes, 4, 3)};
  // Of each linear layer, last to first: the gradient of its input (the first layer's is not
  // needed), of its weights, of its bias.
  std::int64_t outputs = s.classes;
  for (std::int64_t layer = s.layers; layer >= 0; --layer) {
    const std::int64_t inputs = layer == 0 ? s.inputs : s.hidden;
    if (layer > 0) operations.push_back(gemm("AddmmBackward0", s.batch, inputs, outputs));
    operations.push_back(gemm("AddmmBackward0", outputs, inputs, s.batch));
    operations.push_back(pointwise("sum over the batch", "aten::sum", OperationKind::kReduction,
                                   s.batch * outputs, 1, 1));
    if (layer > 0)
      operations.push_back(pointwise("relu_backward", "ReluBackward0", OperationKind::kElementwise,
                                     s.batch * s.hidden, 1, 3));
    outputs = s.hidden;
  }
  return operations;
}

std::vector<Operation> mlp_sgd(const MlpShape& s) {
  return {pointwise("foreach_add", "aten::_foreach_add_", OperationKind::kOptimizer, s.parameters(),
                    2, 3)};
}

}  // namespace trainscope::train
