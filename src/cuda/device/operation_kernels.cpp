#include "cuda/device/operation_kernels.h"

#include <algorithm>
#include <cmath>

#include "cuda/device/chains.h"
#include "cuda/device/compiled_chains.h"
#include "cuda/device/launcher.h"
#include "cuda/device/shapes.h"
#include "kernels/accuracy.h"
#include "kernels/attention.h"
#include "kernels/bandwidth.h"
#include "kernels/batch_norm.h"
#include "kernels/busy.h"
#include "kernels/embedding.h"
#include "kernels/gradient_norm.h"
#include "kernels/layer_norm.h"
#include "kernels/nll_loss.h"
#include "kernels/reductions.h"
#include "kernels/rms_norm.h"
#include "kernels/rotate.h"

namespace trainscope::cuda {
namespace {

using program::OperationKind;
using program::Part;

bool is_busy(const program::Operation& operation) {
  return std::holds_alternative<std::monostate>(operation.function) &&
         operation.kind != OperationKind::kGemm;
}

template <typename Function, typename... Others>
constexpr bool is_one_of = (std::is_same_v<Function, Others> || ...);

constexpr std::size_t kAlignedFloats = 4;  // that a part of the room begins on: 16 bytes

// Floats beside copies of operands.
struct Workspace {
  std::size_t operator()(const program::Linear& f) const {
    return f.part == Part::kBiasGradient ? kernels::column_sums_workspace(matrix(f.rows, f.outputs))
                                         : 0;
  }
  std::size_t operator()(const program::Convolution& f) const {
    if (f.part == Part::kBiasGradient) return kernels::conv2d_bias_workspace(conv_of(f));
    return f.part == Part::kWeightGradient ? kernels::conv2d_weights_workspace(conv_of(f)) : 0;
  }
  std::size_t operator()(const program::BatchNorm& f) const {
    return kernels::batch_norm_workspace(image_of(f));
  }
  std::size_t operator()(const program::LayerNorm& f) const {
    return f.part == Part::kWeightGradient
               ? kernels::layer_norm_workspace(matrix(f.rows, f.columns))
               : 0;
  }
  std::size_t operator()(const program::RmsNorm& f) const {
    return f.part == Part::kWeightGradient ? kernels::rms_norm_workspace(matrix(f.rows, f.columns))
                                           : 0;
  }
  std::size_t operator()(const program::Embedding& f) const {  // whole numbers, as wide
    return f.part == Part::kForward
               ? 0
               : kernels::embedding_workspace(matrix(f.vocabulary, f.width), size(f.tokens));
  }
  std::size_t operator()(const program::Attention& f) const {
    const bool forward = f.part == Part::kForward;
    const std::size_t rows = size(f.batch * f.heads * f.length);
    const std::size_t repeated = f.is_grouped() ? rows * size(f.width) + kAlignedFloats : 0;
    if (forward) return 2 * repeated;
    return 4 * repeated + (f.flash ? rows : rows * size(f.length));
  }
  std::size_t operator()(const program::NllLoss& f) const {
    return kernels::nll_loss_workspace(size(f.rows));
  }
  std::size_t operator()(const program::CountCorrect& f) const {
    return kernels::count_correct_workspace(size(f.rows));
  }
  std::size_t operator()(const program::Multiply& f) const {  // of a sum of as many
    return kernels::sum_workspace(size(f.elements));
  }
  template <typename Other>
  std::size_t operator()(const Other&) const {
    using namespace program;
    static_assert(
        is_one_of<Other, std::monostate, Activation, MaxPooling, AveragePooling, AddPositions,
                  Rotate, Dropout, LogSoftmax, SharedLoss, Add, program::Product, Accumulate,
                  CopyPart, CopyRuns, Concatenate, ShardsApart, ShardsTogether, Power, Fill, Cast,
                  GradientNorm, GradientNorms, ClipGradients, SgdUpdate, AdamUpdate, InvertScale,
                  Unscale, UpdateScale>);
    return 0;
  }
};

// A chain of dependent multiply-adds takes four cycles each on every GPU from Volta on (Jia et al.,
// arXiv:1804.06826).
constexpr double kCyclesARound = 4;

int rounds_of(double rounds, const KernelLimits& limits) {
  return static_cast<int>(std::clamp(rounds, 1.0, static_cast<double>(limits.most_rounds)));
}

// The numbers of chains that there is a kernel for.
int chains_for(int wanted) {
  int chains = 1;
  while (chains < wanted && chains < 16) chains *= 2;
  return chains;
}

kernels::Busy busy_of(const KernelCall& call, const KernelLimits& limits) {
  const program::Operation& one = *call.operation;
  kernels::Busy busy;
  busy.blocks = static_cast<unsigned>(std::max<std::int64_t>(1, one.blocks));
  busy.threads = static_cast<unsigned>(std::max(1, one.threads));
  if (!one.block_work) {
    const double seconds =
        static_cast<double>(std::max<Nanos>(0, one.opaque_duration - call.floor)) * 1e-9;
    const double threads = static_cast<double>(busy.blocks) * busy.threads;
    busy.chains = 1;
    busy.rounds = rounds_of(one.opaque_duration > 0 ? seconds * limits.clock_hz / kCyclesARound
                                                    : one.flops / (2 * threads),
                            limits);
    return busy;
  }
  busy.shared_bytes = size(one.block_work->shared_bytes);
  busy.registers = std::clamp(one.block_work->registers, 1, 255);
  busy.chains = chains_for(one.block_work->ilp == 0 ? 4 : one.block_work->ilp);
  const double each = one.block_work->flops / static_cast<double>(busy.threads);
  busy.rounds = rounds_of(each / (2 * busy.chains), limits);
  return busy;
}

bool only_moves(const program::Operation& one) {
  return one.block_work && one.flops == 0 && one.block_work->bytes > 0;
}

// Of a kernel that only moves memory: floats that are read, and as many written.
std::size_t moved(const program::Operation& one) {
  return size(std::llround(one.bytes / (2 * sizeof(float))));
}

// Where what is written begins: on 16 bytes, as what is read does.
std::size_t second_half(const program::Operation& one) {
  constexpr std::size_t kFloats = 4;
  return (moved(one) + kFloats - 1) / kFloats * kFloats;
}

void launch_busy(const KernelCall& call, kernels::Stream stream, const KernelLimits& limits) {
  const program::Operation& one = *call.operation;
  if (only_moves(one))
    return kernels::copy_values(stream, call.room, call.room + second_half(one), moved(one));
  static_assert(sizeof(BlockRecord) == sizeof(kernels::BlockRecord));
  kernels::keep_busy(stream, busy_of(call, limits), call.room,
                     reinterpret_cast<kernels::BlockRecord*>(call.records));
}

void launch_product(const KernelCall& call, kernels::Stream stream, Products& products) {
  const program::Operation& one = *call.operation;
  // The buffers are bytes to the program; what lies in them is the operation's type.
  const auto matrix = [&](const Operand& at, std::int64_t elements) {
    return Operand{at.memory, elements, one.type};
  };
  const Product product{one.m,
                        one.n,
                        one.k,
                        false,
                        false,
                        matrix(call.reads[0], one.m * one.k),
                        matrix(call.reads[1], one.k * one.n),
                        matrix(call.writes[0], one.m * one.n),
                        {},
                        one.type};
  products.multiply(product, stream);
}

// Compiled where it is, and else by a kernel that reads its steps.
void launch_chain(const FusedKernel& chain, const KernelCall& call, kernels::Stream stream,
                  const Libraries& libraries) {
  if (libraries.chains && !call.reads_steps && libraries.chains->launch(chain, stream, call.room))
    return;
  launch_fused(chain, stream, call.room);
}

void launch_runs(const KernelCall& call, kernels::Stream stream, const Libraries& libraries,
                 const KernelLimits& limits) {
  for (const PartRun& run : runs_of(call)) {
    if (run.chain) {
      launch_chain(*run.chain, call, stream, libraries);
      continue;
    }
    for (const KernelCall& part : run.parts) launch_operation(part, stream, libraries, limits);
  }
}

}  // namespace

void launch_operation(const KernelCall& call, kernels::Stream stream, const Libraries& libraries,
                      const KernelLimits& limits) {
  if (!call.parts.empty()) {
    if (const auto fused = fused_kernel(call)) return launch_chain(*fused, call, stream, libraries);
    return launch_runs(call, stream, libraries, limits);
  }
  if (is_busy(*call.operation)) return launch_busy(call, stream, limits);
  if (call.operation->kind == OperationKind::kGemm &&
      std::holds_alternative<std::monostate>(call.operation->function))
    return launch_product(call, stream, libraries.products);
  Launcher launcher(call, stream, libraries);
  std::visit(launcher, call.operation->function);
  launcher.finish();
}

void prepare_operation(const KernelCall& call, CompiledChains& chains) {
  for (const FusedKernel& chain : chains_of(call)) chains.prepare(chain);
}

std::int64_t room_of(const KernelCall& call) {
  const program::Operation& one = *call.operation;
  if (!call.parts.empty()) {
    std::int64_t most = 0;
    for (const KernelCall& part : call.parts) most = std::max(most, room_of(part));
    return most;
  }
  if (is_busy(one)) {
    if (only_moves(one)) return static_cast<std::int64_t>(2 * second_half(one));
    return std::max<std::int64_t>(1, one.blocks) * std::max(1, one.threads);
  }
  if (std::holds_alternative<std::monostate>(one.function)) return 0;
  std::size_t room = std::visit(Workspace{}, one.function) + kAlignedFloats;
  if (std::holds_alternative<program::GradientNorm>(one.function) ||
      std::holds_alternative<program::GradientNorms>(one.function))
    for (const Operand& gradient : call.reads)
      room += kernels::squares_workspace(size(gradient.elements));
  bool copies = false;
  for (const auto* list : {&call.reads, &call.writes})
    for (const Operand& operand : *list)
      copies |= stored(operand.type) != program::ElementType::kFp32 &&
                operand.type != program::ElementType::kInt64;
  if (!copies) return static_cast<std::int64_t>(room);
  for (const auto* list : {&call.reads, &call.writes})
    for (const Operand& operand : *list) room += size(operand.elements) + kAlignedFloats;
  return static_cast<std::int64_t>(room);
}

std::int64_t blocks_recorded_by(const KernelCall& call) {
  const program::Operation& one = *call.operation;
  const bool tells = call.parts.empty() && is_busy(one) && one.block_work && !only_moves(one);
  return tells ? std::max<std::int64_t>(1, one.blocks) : 0;
}

std::string refusal_of(const program::Operation& operation) {
  for (const program::Operation& part : operation.parts)
    if (std::string why = refusal_of(part); !why.empty()) return why;
  if (operation.block_work && is_busy(operation) && !only_moves(operation) &&
      operation.block_work->math != machine::Math::kFp32)
    return "the executor cuda has a busy kernel of FP32 only; set kernel.type = fp32";
  if (const auto* attention = std::get_if<program::Attention>(&operation.function)) {
    if (!attention->causal) return "the executor cuda has causal attention only";
    if (attention->flash && attention->width > kernels::kWidestHead)
      return "the executor cuda has flash attention for heads of at most 128 numbers";
  }
  const auto* rotate = std::get_if<program::Rotate>(&operation.function);
  if (rotate && rotate->width > 2 * kernels::kMostFrequencies)
    return "the executor cuda has rotary embedding for heads of at most 256 numbers";
  const auto* norm = std::get_if<program::BatchNorm>(&operation.function);
  if (norm && norm->part != Part::kForward && !norm->training)
    return "the executor cuda has no backward of a batch norm that evaluates";
  return "";
}

namespace {

struct LaunchName {
  static std::string of(const char* what, Part part) {
    static constexpr const char* kParts[] = {"", ": input gradient", ": weight gradient",
                                             ": bias gradient"};
    return std::string(what) + kParts[static_cast<std::size_t>(part)];
  }
  std::string operator()(const std::monostate&) const { return "busy"; }
  std::string operator()(const program::Linear& f) const { return of("linear", f.part); }
  std::string operator()(const program::Convolution& f) const { return of("conv2d", f.part); }
  std::string operator()(const program::Activation& f) const { return of("activation", f.part); }
  std::string operator()(const program::MaxPooling& f) const { return of("max_pool", f.part); }
  std::string operator()(const program::AveragePooling& f) const {
    return of("average_pool", f.part);
  }
  std::string operator()(const program::BatchNorm& f) const { return of("batch_norm", f.part); }
  std::string operator()(const program::LayerNorm& f) const { return of("layer_norm", f.part); }
  std::string operator()(const program::RmsNorm& f) const { return of("rms_norm", f.part); }
  std::string operator()(const program::Rotate&) const { return "rotate"; }
  std::string operator()(const program::Embedding& f) const { return of("embedding", f.part); }
  std::string operator()(const program::AddPositions& f) const {
    return of("add_positions", f.part);
  }
  std::string operator()(const program::Dropout& f) const { return of("dropout", f.part); }
  std::string operator()(const program::Attention& f) const { return of("attention", f.part); }
  std::string operator()(const program::LogSoftmax& f) const { return of("log_softmax", f.part); }
  std::string operator()(const program::NllLoss& f) const { return of("nll_loss", f.part); }
  std::string operator()(const program::SharedLoss& f) const {
    static constexpr const char* kSteps[] = {"maximum",   "shift", "exponential", "sum",
                                             "logarithm", "pick",  "mark"};
    return std::string("shared loss: ") + kSteps[static_cast<std::size_t>(f.step)];
  }
  std::string operator()(const program::Add&) const { return "add"; }
  std::string operator()(const program::Product&) const { return "product"; }
  std::string operator()(const program::Accumulate&) const { return "accumulate"; }
  std::string operator()(const program::CopyPart&) const { return "copy"; }
  std::string operator()(const program::CopyRuns&) const { return "copy runs"; }
  std::string operator()(const program::Concatenate&) const { return "concatenate"; }
  std::string operator()(const program::ShardsApart&) const { return "shards apart"; }
  std::string operator()(const program::ShardsTogether&) const { return "shards together"; }
  std::string operator()(const program::Multiply&) const { return "multiply"; }
  std::string operator()(const program::Power&) const { return "power"; }
  std::string operator()(const program::Fill&) const { return "fill"; }
  std::string operator()(const program::Cast&) const { return "cast"; }
  std::string operator()(const program::CountCorrect&) const { return "count_correct"; }
  std::string operator()(const program::GradientNorm&) const { return "gradient_norm"; }
  std::string operator()(const program::GradientNorms&) const { return "gradient_norms"; }
  std::string operator()(const program::ClipGradients&) const { return "clip_gradients"; }
  std::string operator()(const program::SgdUpdate&) const { return "sgd"; }
  std::string operator()(const program::AdamUpdate&) const { return "adam"; }
  std::string operator()(const program::InvertScale&) const { return "invert_scale"; }
  std::string operator()(const program::Unscale&) const { return "unscale"; }
  std::string operator()(const program::UpdateScale&) const { return "update_scale"; }
};

}  // namespace

std::string launch_name(const program::Operation& operation) {
  if (std::holds_alternative<std::monostate>(operation.function))
    return operation.kind == OperationKind::kGemm ? "gemm" : operation.kernel;
  return std::visit(LaunchName{}, operation.function);
}

}  // namespace trainscope::cuda
