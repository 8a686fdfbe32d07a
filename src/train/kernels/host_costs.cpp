#include "train/kernels/host_costs.h"

namespace trainscope::train {
namespace {

using program::Part;

// Medians of a recorded trace, in microseconds, the CUDA calls inside left out: PyTorch's ResNet-50
// on a V100 (pytorch/kineto, tb_plugin/samples, the schema of 2021; README.md has them beside those
// of another trace). A convolution is conv2d, convolution, _convolution and cudnn_convolution, one
// inside another, and the last asks for three tensors; a batch norm asks for six; a linear is t,
// transpose, as_strided, addmm and the bias's expand, backward its node and that of t.
constexpr double kAdd = 37;  // num_batches_tracked + 1, one number
constexpr double kLinear = 194;
constexpr double kLinearBackward = 168 + 16;  // both gradients, which are two operations here
constexpr double kConvolution = 209;
constexpr double kConvolutionBackward = 220.5;  // the same
constexpr double kBatchNorm = 249;
constexpr double kBatchNormBackward = 89;
constexpr double kRelu = 71.5;
constexpr double kReluBackward = 27;
constexpr double kMaxPool = 69;
constexpr double kMaxPoolBackward = 58;
constexpr double kAveragePool = 78;
constexpr double kAveragePoolBackward = 66.5;

double of_part(Part part, double forward, double backward) {
  return (part == Part::kForward ? forward : backward) / kAdd;
}

struct Cost {
  double operator()(const program::Linear& f) const {
    if (f.part == Part::kBiasGradient) return 1;
    return of_part(f.part, kLinear, kLinearBackward / 2);
  }
  double operator()(const program::Convolution& f) const {
    if (f.part == Part::kBiasGradient) return 1;
    return of_part(f.part, kConvolution, kConvolutionBackward / 2);
  }
  double operator()(const program::BatchNorm& f) const {
    return of_part(f.part, kBatchNorm, kBatchNormBackward);
  }
  double operator()(const program::Activation& f) const {
    if (f.kind != program::ActivationKind::kRelu) return 1;
    return of_part(f.part, kRelu, kReluBackward);
  }
  double operator()(const program::MaxPooling& f) const {
    return of_part(f.part, kMaxPool, kMaxPoolBackward);
  }
  double operator()(const program::AveragePooling& f) const {
    return of_part(f.part, kAveragePool, kAveragePoolBackward);
  }
  template <class Other>
  double operator()(const Other&) const {
    return 1;
  }
};

}  // namespace

double host_cost(const program::Function& function) {
  return std::visit(Cost(), function);
}

}  // namespace trainscope::train
