#include "train/kernels/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole.h"
#include "program/second_reads.h"
#include "train/kernels/host_costs.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::Operation;
using program::OperationKind;
using program::Part;

constexpr std::int64_t kTile = 64;  // rows and columns of an SGEMM's tile
constexpr int kThreads = 256;
constexpr std::int64_t kEach = 4;     // elements a thread: 16-byte loads
constexpr std::int64_t kSector = 32;  // bytes that memory is read by

// What a kernel is called and does, but for its operands.
class Describer {
 public:
  Operation operator()(const std::monostate&) const { return {}; }
  Operation operator()(const program::Linear& f) const {
    switch (f.part) {
      case Part::kForward:
        return gemm(f.bias ? "aten::addmm" : "aten::mm", f.rows, f.outputs, f.inputs);
      case Part::kInputGradient:
        return gemm(f.bias ? "AddmmBackward0" : "MmBackward0", f.rows, f.inputs, f.outputs);
      case Part::kWeightGradient:
        return gemm(f.bias ? "AddmmBackward0" : "MmBackward0", f.outputs, f.inputs, f.rows);
      case Part::kBiasGradient:
        break;
    }
    return elements("sum over the batch", "aten::sum", OperationKind::kReduction,
                    f.rows * f.outputs, 1);
  }
  // As an implicit matrix product (design of cuDNN, arXiv:1410.0759): of each group m = the
  // batch's pixels, n = its outputs, k = its part of the window.
  Operation operator()(const program::Convolution& f) const {
    const std::int64_t pixels = f.batch * f.out_height() * f.out_width();
    if (f.part == Part::kBiasGradient)
      return elements("sum over pixels", "aten::sum", OperationKind::kReduction, pixels * f.outputs,
                      1);
    const std::int64_t outputs = f.outputs / f.groups;
    const std::int64_t window = f.channels / f.groups * f.kernel * f.kernel;
    const char* what = f.part == Part::kForward         ? "fprop"
                       : f.part == Part::kInputGradient ? "dgrad"
                                                        : "wgrad";
    Operation op = f.part == Part::kWeightGradient
                       ? gemm("ConvolutionBackward0", outputs, window, pixels)
                       : gemm(f.part == Part::kForward ? "aten::conv2d" : "ConvolutionBackward0",
                              pixels, outputs, window);
    op.kernel =
        fmt::format("conv {} {}x{}, {} to {}", what, f.kernel, f.kernel, f.channels, f.outputs);
    op.flops *= of(f.groups);
    op.blocks *= f.groups;
    return op;
  }
  Operation operator()(const program::Activation& f) const {
    const bool relu = f.kind == program::ActivationKind::kRelu;
    if (f.kind == program::ActivationKind::kTanh)
      return f.part == Part::kForward ? each("tanh", "aten::tanh", f.elements, 10)
                                      : each("tanh_backward", "TanhBackward0", f.elements, 3);
    if (f.kind == program::ActivationKind::kSilu)
      return f.part == Part::kForward ? each("silu", "aten::silu", f.elements, 5)
                                      : each("silu_backward", "SiluBackward0", f.elements, 7);
    if (f.part == Part::kForward)
      return relu ? each("relu", "aten::relu", f.elements, 1)
                  : each("gelu", "aten::gelu", f.elements, 10);
    return relu ? each("relu_backward", "ReluBackward0", f.elements, 1)
                : each("gelu_backward", "GeluBackward0", f.elements, 15);
  }
  Operation operator()(const program::MaxPooling& f) const {
    const std::int64_t places = f.batch * f.channels * f.out_height() * f.out_width();
    const bool forward = f.part == Part::kForward;
    return each(forward ? "max_pool" : "max_pool_backward",
                forward ? "aten::max_pool2d" : "MaxPool2DWithIndicesBackward0", places,
                of(f.kernel * f.kernel));
  }
  Operation operator()(const program::AveragePooling& f) const {
    const std::int64_t pixels = f.batch * f.channels * f.pixels;
    return f.part == Part::kForward
               ? elements("mean over pixels", "aten::mean", OperationKind::kReduction, pixels, 1)
               : each("mean_backward", "MeanBackward1", pixels, 1);
  }
  Operation operator()(const program::BatchNorm& f) const {
    const std::int64_t pixels = f.batch * f.channels * f.height * f.width;
    return f.part == Part::kForward
               ? elements("batch_norm", "aten::batch_norm", OperationKind::kReduction, pixels, 8)
               : elements("batch_norm_backward", "CudnnBatchNormBackward0",
                          OperationKind::kReduction, pixels, 12);
  }
  Operation operator()(const program::LayerNorm& f) const {
    const std::int64_t count = f.rows * f.columns;
    switch (f.part) {
      case Part::kForward:
        return elements("layer_norm", "aten::layer_norm", OperationKind::kReduction, count, 8);
      case Part::kInputGradient:
        return elements("layer_norm_backward", "NativeLayerNormBackward0",
                        OperationKind::kReduction, count, 10);
      default:
        return elements("layer_norm_backward of the weights", "NativeLayerNormBackward0",
                        OperationKind::kReduction, count, 4);
    }
  }
  Operation operator()(const program::RmsNorm& f) const {
    const std::int64_t count = f.rows * f.columns;
    switch (f.part) {
      case Part::kForward:
        return elements("rms_norm", "aten::_fused_rms_norm", OperationKind::kReduction, count, 4);
      case Part::kInputGradient:
        return elements("rms_norm_backward", "FusedRmsNormBackward0", OperationKind::kReduction,
                        count, 7);
      default:
        return elements("rms_norm_backward of the weights", "FusedRmsNormBackward0",
                        OperationKind::kReduction, count, 3);
    }
  }
  // Two products and a sum of each number.
  Operation operator()(const program::Rotate& f) const {
    return each("add_cat_mul_neg of a rotary embedding", f.back ? "autograd::engine" : "aten::add",
                f.elements(), 3);
  }
  Operation operator()(const program::Embedding& f) const {
    const bool forward = f.part == Part::kForward;
    Operation op = each(forward ? "embedding" : "embedding_backward",
                        forward ? "aten::embedding" : "EmbeddingBackward0", f.tokens * f.width, 1);
    return op;
  }
  Operation operator()(const program::AddPositions& f) const {
    const std::int64_t count = f.batch * f.length * f.width;
    return f.part == Part::kForward
               ? each("add", "aten::add", count, 1)
               : elements("sum over the batch", "aten::sum", OperationKind::kReduction, count, 1);
  }
  Operation operator()(const program::Dropout& f) const {
    const bool forward = f.part == Part::kForward;
    constexpr double kDraws = 10, kByMask = 2;
    return each(forward ? "dropout" : "dropout_backward",
                forward ? "aten::dropout" : "NativeDropoutBackward0", f.elements,
                forward ? kDraws : kByMask);
  }
  // Two products of length x length x width a head, five in backward; half of each under a causal
  // mask, which only the flash kernel makes use of (arXiv:2205.14135, 2307.08691).
  Operation operator()(const program::Attention& f) const {
    const bool forward = f.part == Part::kForward;
    const int products = forward ? 2 : f.flash ? 5 : 4;
    Operation op =
        gemm(forward ? "aten::scaled_dot_product_attention" : "ScaledDotProductAttentionBackward0",
             f.length, f.length, f.width);
    op.kernel =
        fmt::format("{} attention{}", f.flash ? "flash" : "math", forward ? "" : " backward");
    const double share = f.flash && f.causal ? 0.5 : 1;
    op.flops *= of(f.batch * f.heads) * products * share;
    op.blocks = f.batch * f.heads * ceil_div(f.length, kTile);
    return op;
  }
  Operation operator()(const program::LogSoftmax& f) const {
    const std::int64_t count = f.rows * f.classes;
    return f.part == Part::kForward
               ? elements("log_softmax", "aten::log_softmax", OperationKind::kSoftmaxLoss, count, 5)
               : elements("log_softmax_backward", "LogSoftmaxBackward0",
                          OperationKind::kSoftmaxLoss, count, 4);
  }
  Operation operator()(const program::NllLoss& f) const {
    if (f.part == Part::kForward)
      return elements("nll_loss", "aten::nll_loss", OperationKind::kReduction, f.rows, 1);
    return elements("nll_loss_backward", "NllLossBackward0", OperationKind::kSoftmaxLoss,
                    f.rows * f.classes, 1);
  }
  Operation operator()(const program::SharedLoss& f) const {
    using Step = program::LossStep;
    const std::int64_t count = f.rows * f.classes;
    switch (f.step) {
      case Step::kMaximum:
        return elements("amax", "aten::amax", OperationKind::kReduction, count, 1);
      case Step::kShift:
        return each("sub", "aten::sub", count, 1);
      case Step::kExponential:
        return each("exp", "aten::exp", count, 1);
      case Step::kSum:
        return elements("sum", "aten::sum", OperationKind::kReduction, count, 1);
      case Step::kLogarithm:
        return each("log", "aten::log", f.rows, 1);
      case Step::kPick:
        return each("gather", "aten::gather", f.rows, 0);
      case Step::kMark:
        return each("index_put", "aten::index_put_", f.rows, 0);
    }
    return {};
  }
  Operation operator()(const program::Add& f) const {
    return each("add", "aten::add", f.elements, 1);
  }
  Operation operator()(const program::Product& f) const {
    return each("mul", "aten::mul", f.elements, 1);
  }
  Operation operator()(const program::Accumulate& f) const {
    return each("accumulate", "AccumulateGrad", f.elements, 1);
  }
  Operation operator()(const program::CopyPart& f) const {
    return elements("vectorized_elementwise_kernel: copy", "aten::copy_",
                    OperationKind::kElementwise, f.elements, f.factor == 1 ? 0 : 1);
  }
  // One run of several, single numbers, or all runs in another order.
  Operation operator()(const program::CopyRuns& f) const {
    const bool is_clone = f.rank_step > 0 || f.run == 1;
    return elements(is_clone ? "elementwise_kernel: copy" : "CatArrayBatchedCopy",
                    is_clone ? "aten::clone" : "aten::cat", OperationKind::kElementwise, written_,
                    0);
  }
  Operation operator()(const program::Concatenate&) const {
    return elements("CatArrayBatchedCopy", "aten::cat", OperationKind::kElementwise, written_, 0);
  }
  Operation operator()(const program::ShardsApart&) const {
    return elements("split_with_sizes_copy", "fsdp::split_with_sizes_copy",
                    OperationKind::kElementwise, written_, 0);
  }
  Operation operator()(const program::ShardsTogether&) const {
    return elements("chunk_cat", "fsdp::chunk_cat", OperationKind::kElementwise, written_, 0);
  }
  Operation operator()(const program::Multiply& f) const {
    return each("mul", "aten::mul", f.elements, 1);
  }
  Operation operator()(const program::Power& f) const {
    return each("pow", "aten::pow", f.elements, 1);
  }
  Operation operator()(const program::Fill& f) const {
    return each("fill", "aten::fill_", f.elements, 0);
  }
  Operation operator()(const program::Cast& f) const {
    return each("cast", "aten::to", f.elements, 1);
  }
  Operation operator()(const program::CountCorrect& f) const {
    return elements("argmax, equal, sum", "aten::argmax", OperationKind::kReduction,
                    f.rows * f.classes, 1);
  }
  Operation operator()(const program::GradientNorm&) const {
    return elements("foreach_norm", "aten::_foreach_norm", OperationKind::kReduction, read_, 2);
  }
  Operation operator()(const program::GradientNorms&) const {
    return elements("foreach_norm", "aten::_foreach_norm", OperationKind::kReduction, read_, 2);
  }
  Operation operator()(const program::ClipGradients&) const {
    return elements("foreach_mul", "aten::_foreach_mul_", OperationKind::kOptimizer, written_, 1);
  }
  Operation operator()(const program::SgdUpdate&) const {
    return elements("foreach_add", "aten::_foreach_add_", OperationKind::kOptimizer, read_, 2);
  }
  Operation operator()(const program::AdamUpdate&) const {
    return elements("fused_adam", "aten::_fused_adam_", OperationKind::kOptimizer, read_, 12);
  }
  Operation operator()(const program::InvertScale&) const {
    return each("reciprocal", "aten::reciprocal", 1, 1);
  }
  Operation operator()(const program::Unscale&) const {
    return elements("unscale, look for infinities",
                    "aten::_amp_foreach_non_finite_check_and_unscale_", OperationKind::kOptimizer,
                    written_, 2);
  }
  Operation operator()(const program::UpdateScale&) const {
    return each("amp_update_scale", "aten::_amp_update_scale_", 1, 4);
  }

  Describer(std::int64_t read, std::int64_t written) : read_(read), written_(written) {}

 private:
  static Operation elements(const char* kernel, const char* framework, OperationKind kind,
                            std::int64_t count, double flops_each) {
    return pointwise(kernel, framework, kind, count, flops_each, 0);
  }
  static Operation each(const char* kernel, const char* framework, std::int64_t count,
                        double flops_each) {
    return elements(kernel, framework, OperationKind::kElementwise, count, flops_each);
  }
  // C[m,n] = A[m,k] B[k,n]: 2mnk operations.
  static Operation gemm(const char* framework, std::int64_t m, std::int64_t n, std::int64_t k) {
    Operation op;
    op.kernel = fmt::format("gemm {}x{}x{}", m, n, k);
    op.framework = framework;
    op.kind = OperationKind::kGemm;
    op.m = m;
    op.n = n;
    op.k = k;
    op.flops = 2 * of(m) * of(n) * of(k);
    op.blocks = ceil_div(m, kTile) * ceil_div(n, kTile);
    op.threads = kThreads;
    return op;
  }

  std::int64_t read_;     // elements of all operands that are read
  std::int64_t written_;  // and written
};

// Bytes that are read or written, as the SMs see it: of most operations each operand once.
double traffic(const program::Program& program, const program::Function& function,
               const Operands& operands) {
  double bytes = 0;
  for (const auto* list : {&operands.reads, &operands.writes})
    for (const Index buffer : *list) bytes += of(program.buffers[buffer].bytes);
  // Of a table of positions, the rows of a sequence.
  const auto* positions = std::get_if<program::AddPositions>(&function);
  if (positions && positions->part == Part::kForward) {
    const program::Buffer& table = program.buffers[operands.reads[1]];
    bytes += of(positions->length * positions->width * program::size_of(table.type) - table.bytes);
  }
  // Only the rows of the tokens are read, each of them once.
  const auto* embedding = std::get_if<program::Embedding>(&function);
  if (embedding && embedding->part == Part::kForward)
    bytes +=
        of(program.buffers[operands.writes[0]].bytes - program.buffers[operands.reads[1]].bytes);
  if (const auto* fill = std::get_if<program::Fill>(&function))
    for (const Index buffer : operands.writes) {
      const program::Buffer& filled = program.buffers[buffer];
      const std::int64_t elements = std::min(fill->elements, filled.elements());
      bytes += of(elements * program::size_of(filled.type) - filled.bytes);
    }
  // Of each run that is written, the one that is read.
  if (std::holds_alternative<program::CopyRuns>(function))
    bytes = 2 * of(program.buffers[operands.writes[0]].bytes);
  // One step of a sequence.
  const auto* linear = std::get_if<program::Linear>(&function);
  if (linear && linear->steps > 1 &&
      (linear->part == Part::kForward || linear->part == Part::kWeightGradient)) {
    const Index x = operands.reads[linear->part == Part::kForward ? 0 : 1];
    const auto steps = of(linear->steps);
    bytes -= of(program.buffers[x].bytes) * (steps - 1) / steps;
  }
  // One number of each row, which a sector comes with (aten/src/ATen/native/cuda/Loss.cu,
  // nll_loss_forward_reduce_cuda_kernel_2d).
  const auto* nll = std::get_if<program::NllLoss>(&function);
  if (nll && nll->part == Part::kForward)
    bytes += of(nll->rows * kSector - program.buffers[operands.reads[0]].bytes);
  // One number of each row, which a sector comes with; its target is read, too.
  const auto* shared = std::get_if<program::SharedLoss>(&function);
  if (shared && shared->step == program::LossStep::kPick)
    bytes += of(shared->rows * kSector - program.buffers[operands.reads[0]].bytes);
  if (shared && shared->step == program::LossStep::kMark)
    bytes += of(shared->rows * kSector - program.buffers[operands.writes[0]].bytes);
  // As one call without the flash kernel (math_attention.h has its launches), the scores are
  // written and read by the products and the masked softmax between them.
  const auto* attention = std::get_if<program::Attention>(&function);
  if (attention && !attention->flash) {
    const Index scores = attention->part == Part::kForward
                             ? operands.writes[1]
                             : operands.reads[attention->packed ? 2 : 4];
    bytes += 4 * of(program.buffers[scores].bytes);
  }
  if (const auto* norm = std::get_if<program::BatchNorm>(&function))
    bytes += program::second_read(*norm, program.buffers[operands.reads[0]].bytes).bytes;
  if (const auto* softmax = std::get_if<program::LogSoftmax>(&function))
    bytes += program::second_read(*softmax, program.buffers[operands.reads[0]].bytes).bytes;
  return bytes;
}

}  // namespace

Operation pointwise(std::string kernel, std::string framework, OperationKind kind,
                    std::int64_t elements, double flops_each, double bytes) {
  Operation op;
  op.kernel = std::move(kernel);
  op.framework = std::move(framework);
  op.kind = kind;
  op.m = elements;
  op.flops = flops_each * of(elements);
  op.bytes = bytes;
  op.blocks = std::max<std::int64_t>(1, ceil_div(elements, kThreads * kEach));
  op.threads = kThreads;
  return op;
}

Operation make_operation(const program::Program& program, const program::Function& function,
                         program::ElementType type, Operands operands) {
  std::int64_t read = 0, written = 0;
  for (const Index buffer : operands.reads) read += program.buffers[buffer].elements();
  for (const Index buffer : operands.writes) written += program.buffers[buffer].elements();
  Operation op = std::visit(Describer(read, written), function);
  op.function = function;
  op.type = type;
  op.host_cost = host_cost(function);
  op.bytes = traffic(program, function, operands);
  op.reads = std::move(operands.reads);
  op.writes = std::move(operands.writes);
  return op;
}

}  // namespace trainscope::train
