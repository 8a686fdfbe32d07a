#include "train/kernels/launch_shapes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/whole.h"
#include "machine/attention_kernel.h"
#include "machine/gemm_tiles.h"
#include "program/products.h"
#include "program/second_reads.h"
#include "train/compile/fusion_loop.h"
#include "train/kernels/one_by_one.h"

namespace trainscope::train {
namespace {

using program::Operation;
using program::Part;

constexpr int kElementwise = 128;    // threads
constexpr std::int64_t kVector = 4;  // elements of a thread, loaded at once

struct Shape {
  std::int64_t blocks = 1;
  int threads = kElementwise;
  int registers = 32;
  std::int64_t shared_bytes = 0;
  int ilp = 0;
  // Of a matrix product or attention: a block's, its padding included, and what its code reaches.
  double flops = 0;
  double efficiency = 1;
};

// Of a grid, which has a block at least.
std::int64_t blocks_of(std::int64_t work, std::int64_t of_each) {
  return std::max<std::int64_t>(1, ceil_div(work, of_each));
}

Shape each(std::int64_t elements) {
  return {blocks_of(elements, kElementwise * kVector), kElementwise, 32, 0, kVector};
}

Shape sum(std::int64_t elements) {
  constexpr int kThreads = 512;
  constexpr std::int64_t kEach = 16;
  return {blocks_of(elements, kThreads * kEach), kThreads};
}

// A row for each block, with as many threads as there are vectors in it, or `most`.
Shape rows(std::int64_t rows, std::int64_t columns, std::int64_t most) {
  const std::int64_t warps = blocks_of(columns, kVector * machine::kWarp);
  return {std::max<std::int64_t>(1, rows),
          static_cast<int>(std::min(most, warps * machine::kWarp))};
}

Shape reduction_of_rows(std::int64_t rows, std::int64_t columns) {
  const RowSums sums = sums_of_rows(rows, columns);
  return {sums.blocks, sums.threads};
}

// Of the one block that sums the losses: a sixteenth of the rows, to the nearest power of two
// (aten/src/ATen/native/cuda/Loss.cu, nll_loss_threads).
int loss_threads(std::int64_t rows) {
  const double share = std::max(1.0, static_cast<double>(rows / 16));
  const int threads = 1 << static_cast<int>(std::round(std::log2(std::min(share, 1024.0))));
  return std::clamp(threads, machine::kWarp, machine::kMostThreads);
}

class Shaper {
 public:
  Shaper(const machine::Gpu& gpu, const Operation& operation) : gpu_(gpu), operation_(operation) {}

  Shape operator()(const std::monostate&) const {
    if (!operation_.parts.empty()) return generated();
    if (operation_.kind == program::OperationKind::kGemm) return product();
    // A foreach kernel but the last of an operator, or one that moves memory, comes with its grid.
    return {operation_.blocks, operation_.threads};
  }
  Shape operator()(const program::Linear& f) const {
    return f.part == Part::kBiasGradient ? sum(operation_.m) : product();
  }
  // But for a bias's gradient, planned already.
  Shape operator()(const program::Convolution&) const { return sum(operation_.m); }
  Shape operator()(const program::MaxPooling&) const {
    constexpr int kThreads = 256;
    return {blocks_of(operation_.m, kThreads), kThreads};
  }
  Shape operator()(const program::AveragePooling& f) const {
    return f.part == Part::kForward ? sum(operation_.m) : each(operation_.m);
  }
  // cuDNN's kernels for images whose pixels lie together have a block for each channel, as profiles
  // show (bn_fw_tr_1C11_kernel_NCHW, bn_bw_1C11_kernel_new: 64 blocks of 512 threads of 64
  // channels, of 32 registers on a V100 and 40 on an A100). Each thread has one load on its way, as
  // the times of few channels there say.
  Shape operator()(const program::BatchNorm& f) const {
    if (f.channels_last) return sum(operation_.m);
    const int registers = gpu_.compute_capability < 8.0 ? 32 : 40;
    return {f.channels, program::kBatchNormThreads, registers, 0, 1};
  }
  Shape operator()(const program::LayerNorm& f) const {
    constexpr std::int64_t kColumns = 32;
    if (f.part == Part::kWeightGradient) return {blocks_of(f.columns, kColumns), 1024};
    return {std::max<std::int64_t>(1, f.rows), kElementwise};
  }
  // Written out, the last of its launches: a product, a sum of gradients, a sum over rows.
  Shape operator()(const program::RmsNorm& f) const {
    if (f.written_out && operation_.parts.empty() && !operation_.compiled)
      return f.part == Part::kWeightGradient ? sum(operation_.m) : each(operation_.m);
    return (*this)(program::LayerNorm{f.rows, f.columns, f.part});
  }
  // The table's gradient is filled with zeros first, by all SMs.
  Shape operator()(const program::Embedding& f) const {
    if (f.part == Part::kForward) return each(operation_.m);
    return each(std::max(operation_.m, f.vocabulary * f.width));
  }
  Shape operator()(const program::AddPositions& f) const {
    return f.part == Part::kForward ? each(operation_.m) : sum(operation_.m);
  }
  Shape operator()(const program::Dropout& f) const {
    if (f.part != Part::kForward) return each(operation_.m);
    constexpr int kThreads = 256;
    const std::int64_t most = gpu_.sm_count * std::int64_t{gpu_.threads_per_sm} / kThreads;
    return {std::min(most, blocks_of(operation_.m, kThreads)), kThreads, 32, 0, kVector};
  }
  Shape operator()(const program::Attention& f) const {
    if (!f.flash) return each(operation_.m);  // the copy that ends it
    machine::AttentionShape attention{f.batch * f.heads, f.length, f.width};
    attention.element_bytes = program::size_of(operation_.type);
    attention.causal = f.causal;
    attention.backward = f.part != Part::kForward;
    attention.math = program::math_of(operation_, gpu_);
    const machine::AttentionPlan plan = machine::plan_attention(gpu_, attention);
    Shape shape{plan.blocks, plan.threads, plan.registers, most_shared(plan.shared_bytes)};
    shape.flops = plan.flops;
    shape.efficiency = plan.efficiency;
    return shape;
  }
  Shape operator()(const program::LogSoftmax& f) const {
    constexpr std::int64_t kMostOfWarp = 1024, kWarps = 4;
    if (f.classes <= kMostOfWarp) return {blocks_of(f.rows, kWarps), kElementwise};
    constexpr std::int64_t kMostBackward = 512;
    return rows(f.rows, f.classes,
                f.part == Part::kForward ? machine::kMostThreads : kMostBackward);
  }
  Shape operator()(const program::NllLoss& f) const {
    if (f.part == Part::kForward) return {1, loss_threads(f.rows)};
    return each(operation_.m);
  }
  Shape operator()(const program::SharedLoss& f) const {
    const bool reduces = f.step == program::LossStep::kMaximum || f.step == program::LossStep::kSum;
    return reduces ? reduction_of_rows(f.rows, f.classes) : each(operation_.m);
  }
  Shape operator()(const program::CountCorrect& f) const { return sum(f.rows * f.classes); }
  Shape operator()(const program::GradientNorm&) const { return lists(); }
  Shape operator()(const program::GradientNorms&) const { return lists(); }
  Shape operator()(const program::ClipGradients&) const { return lists(); }
  Shape operator()(const program::SgdUpdate&) const { return lists(); }
  Shape operator()(const program::AdamUpdate&) const { return lists(); }
  Shape operator()(const program::Unscale&) const { return lists(); }
  Shape operator()(const program::Fill&) const {
    return operation_.kind == program::OperationKind::kOptimizer ? lists() : each(operation_.m);
  }
  template <typename Pointwise>
  Shape operator()(const Pointwise&) const {
    return each(operation_.m);
  }

 private:
  Shape product() const {
    const machine::GemmPlan plan = program::product_plan(operation_, gpu_);
    return {plan.blocks(),
            plan.threads,
            plan.registers,
            plan.shared_bytes,
            0,
            plan.tile_flops / static_cast<double>(plan.parts),
            plan.efficiency};
  }
  // Foreach kernels are made with their chunks.
  Shape lists() const {
    constexpr int kThreads = 512;
    if (operation_.threads == kThreads) return {operation_.blocks, kThreads};
    return {blocks_of(operation_.m, kForeachChunk), kThreads};
  }
  Shape generated() const {
    constexpr std::int64_t kEach = 8, kMostThreads = 512;
    for (const Operation& part : operation_.parts) {
      const auto loop = fusion_loop(part.function);
      if (!loop || loop->results == 0) continue;
      return loop->inner ? rows(loop->results, loop->elements / loop->results, kMostThreads)
                         : sum(loop->elements);
    }
    return {blocks_of(operation_.m, kElementwise * kEach), kElementwise, 32, 0, kEach};
  }
  // At most what a block can have.
  std::int64_t most_shared(std::int64_t bytes) const {
    return std::min(bytes, machine::architecture_of(gpu_).most_shared);
  }

  const machine::Gpu& gpu_;
  const Operation& operation_;
};

// What holds a kernel to so many numbers a cycle is its instructions: its arithmetic is as much as
// there are numbers, at a share of the unit's rate that makes them so many.
void hold_to(double numbers, const Operation& operation, const machine::Gpu& gpu,
             program::BlockWork& work) {
  const auto peak = machine::peak_flops_per_s(gpu, work.math);
  if (numbers <= 0 || !peak) return;
  work.flops = static_cast<double>(operation.m) / static_cast<double>(operation.blocks);
  work.efficiency = std::min(1.0, numbers * gpu.boost_clock_hz * gpu.sm_count / *peak);
}

std::vector<bool> launched_of(const program::Program& program) {
  std::vector<bool> launched(program.operations.size());
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action))
        launched[launch->operation] = true;
  return launched;
}

}  // namespace

RowSums sums_of_rows(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kMostOfThread = 256;
  RowSums sums;
  const bool is_shared = columns / machine::kWarp >= kMostOfThread;
  sums.blocks =
      is_shared ? std::max<std::int64_t>(1, rows) : blocks_of(rows, sums.threads / machine::kWarp);
  return sums;
}

void shape_launches(program::Program& program, const machine::Gpu& gpu) {
  const std::vector<bool> launched = launched_of(program);
  for (std::size_t i = 0; i < launched.size(); ++i) {
    Operation& operation = program.operations[i];
    if (!launched[i] || operation.block_work) continue;
    const Shape shape = std::visit(Shaper(gpu, operation), operation.function);
    const auto blocks = static_cast<double>(shape.blocks);
    program::BlockWork work;
    work.flops = shape.flops > 0 ? shape.flops : operation.flops / blocks;
    work.bytes = operation.bytes / blocks;
    work.math = program::math_of(operation, gpu);
    work.efficiency = shape.efficiency;
    work.ilp = shape.ilp;
    work.registers = shape.registers;
    work.shared_bytes = shape.shared_bytes;
    operation.blocks = shape.blocks;
    operation.threads = shape.threads;
    hold_to(numbers_per_cycle(program, operation, gpu), operation, gpu, work);
    operation.block_work = work;
  }
}

}  // namespace trainscope::train
