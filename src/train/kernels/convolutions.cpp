#include "train/kernels/convolutions.h"

#include <optional>

#include "machine/convolution_tiles.h"
#include "program/marks.h"
#include "program/products.h"
#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using machine::ConvolutionTensor;
using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::OperationKind;
using program::Part;

// Nothing for what is no convolution, and for a bias's gradient, which is a sum.
std::optional<machine::ConvolutionShape> shape_of(const program::Operation& operation) {
  const auto* f = std::get_if<program::Convolution>(&operation.function);
  if (!f || f->part == Part::kBiasGradient) return std::nullopt;
  machine::ConvolutionShape shape;
  shape.batch = f->batch;
  shape.channels = f->channels;
  shape.height = f->height;
  shape.width = f->width;
  shape.outputs = f->outputs;
  shape.kernel = f->kernel;
  shape.stride = f->stride;
  shape.padding = f->padding;
  shape.groups = f->groups;
  shape.channels_last = f->channels_last;
  shape.part = f->part == Part::kForward         ? machine::ConvolutionPart::kForward
               : f->part == Part::kInputGradient ? machine::ConvolutionPart::kInputGradient
                                                 : machine::ConvolutionPart::kWeightGradient;
  shape.type = program::gemm_type(operation.type);
  return shape;
}

program::Operation moving(const machine::ConvolutionKernel& kernel,
                          const program::Operation& convolution) {
  program::Operation operation = pointwise(kernel.name, convolution.framework,
                                           OperationKind::kElementwise, 0, 0, kernel.bytes);
  operation.m = static_cast<std::int64_t>(kernel.bytes) / 2 / program::size_of(convolution.type);
  operation.blocks = kernel.blocks;
  operation.threads = kernel.threads;
  operation.type = convolution.type;
  operation.is_gradient = convolution.is_gradient;
  operation.host_cost = convolution.host_cost;
  if (kernel.block_instructions > 0) {
    program::BlockWork work;
    work.flops = 2 * kernel.block_instructions;
    work.bytes = kernel.bytes / static_cast<double>(kernel.blocks);
    operation.block_work = work;
  }
  return operation;
}

// The last wave is the SM array's, no longer a part of the figure.
void plan_kernel(program::Operation& operation, const machine::ConvolutionKernel& kernel,
                 const machine::Gpu& gpu) {
  operation.kernel = kernel.name;
  operation.flops = kernel.flops;
  operation.bytes = kernel.bytes;
  operation.efficiency = kernel.efficiency;
  operation.blocks = kernel.blocks;
  operation.threads = kernel.threads;
  program::BlockWork work;
  const auto blocks = static_cast<double>(kernel.blocks);
  work.flops = kernel.flops / blocks;
  work.bytes = kernel.bytes / blocks;
  work.math = kernel.math;
  work.efficiency = kernel.efficiency * kernel.kept / machine::last_wave(gpu, kernel.blocks);
  work.registers = kernel.registers;
  work.shared_bytes = kernel.shared_bytes;
  operation.block_work = work;
  if (auto* f = std::get_if<program::Convolution>(&operation.function))
    f->tf32 = operation.type == ElementType::kTf32;
  if (kernel.math == machine::Math::kFp32) operation.type = ElementType::kFp32;
}

}  // namespace

Index Convolutions::workspace(std::int64_t bytes, int device) {
  if (bytes == 0) return kNoIndex;
  const auto [entry, is_new] = spaces_.try_emplace({bytes, device}, kNoIndex);
  if (is_new) {
    entry->second = add_buffer(program_, "cuDNN workspace", bytes, program::MemoryKind::kDevice,
                               program::Role::kWorkspace);
    program_.buffers[entry->second].device = device;
  }
  return entry->second;
}

const std::vector<machine::ConvolutionPlan>& Convolutions::plans(
    const machine::ConvolutionShape& shape) {
  const auto [entry, is_new] = plans_.try_emplace(shape);
  if (is_new)
    entry->second = benchmark_ ? machine::convolution_plans(gpu_, shape)
                               : std::vector{machine::plan_convolution(gpu_, shape)};
  return entry->second;
}

// A trial computes nothing that anyone reads. What turns a gradient's result round writes it last.
Convolutions::Call Convolutions::make_call(const machine::ConvolutionPlan& plan, Index id,
                                           bool trial) {
  const program::Operation convolution = program_.operations[id];
  Call call;
  call.workspace = workspace(plan.workspace, program_.buffers[convolution.writes.front()].device);
  for (const machine::ConvolutionKernel& kernel : plan.kernels) {
    if (kernel.computes) call.computes = call.operations.size();
    if (kernel.computes && !trial) {
      plan_kernel(program_.operations[id], kernel, gpu_);
      std::get<program::Convolution>(program_.operations[id].function).benchmark = benchmark_;
      call.operations.push_back(id);
      continue;
    }
    program::Operation operation = moving(kernel, convolution);
    if (kernel.computes) {
      operation.kind = OperationKind::kGemm;
      operation.type = convolution.type;
      plan_kernel(operation, kernel, gpu_);
    } else if (!trial && kernel.turns == ConvolutionTensor::kResult) {
      operation.reads = {call.workspace};
      operation.writes = convolution.writes;
    } else if (!trial) {
      operation.reads = {convolution.reads[static_cast<std::size_t>(kernel.turns)]};
      operation.writes = {call.workspace};
    }
    program_.operations.push_back(std::move(operation));
    call.operations.push_back(static_cast<Index>(program_.operations.size() - 1));
  }
  return call;
}

const Convolutions::Call* Convolutions::call_of(Index id) {
  if (const auto found = calls_.find(id); found != calls_.end()) return &found->second;
  const auto shape = shape_of(program_.operations[id]);
  if (!shape) return nullptr;
  const int device = program_.buffers[program_.operations[id].writes.front()].device;
  std::vector<Call> trials;
  if (benchmark_ && !places_.contains({*shape, device}))
    for (const machine::ConvolutionPlan& way : plans(*shape))
      trials.push_back(make_call(way, id, true));
  const Call call = make_call(machine::fastest(plans(*shape)), id, false);
  if (benchmark_) {
    const auto [place, is_new] = places_.try_emplace({*shape, device}, searches_.size());
    if (is_new) searches_.push_back({std::move(trials), false});
    begins_[call.operations.front()] = place->second;
  }
  return &calls_.emplace(id, call).first->second;
}

void Convolutions::expand(std::vector<PlannedLaunch>& launches) {
  std::vector<PlannedLaunch> result;
  result.reserve(launches.size());
  for (PlannedLaunch& launch : launches) {
    const Call* call = call_of(launch.operation);
    if (!call) {
      result.push_back(std::move(launch));
      continue;
    }
    const std::size_t first = result.size();
    for (const Index operation : call->operations)
      result.push_back({operation, {}, {}, result.size() > first, launch.block, launch.piece});
    result[first].allocated = std::move(launch.allocated);
    result.back().freed = std::move(launch.freed);
    if (call->workspace == kNoIndex) continue;
    result[first].allocated.push_back(call->workspace);
    result.back().freed.insert(result.back().freed.begin(), call->workspace);
  }
  launches = std::move(result);
}

void Convolutions::expand(Plan& plan) {
  for (auto* list : {&plan.forward, &plan.loss, &plan.scale, &plan.backward}) expand(*list);
}

void Convolutions::search(ThreadWriter& thread, const PlannedLaunch& launch, Index stream) {
  const auto begins = begins_.find(launch.operation);
  if (begins == begins_.end() || searches_[begins->second].done) return;
  searches_[begins->second].done = true;
  thread.add(program::BeginMark{}, program::kBenchmarkMark);
  for (const Call& call : searches_[begins->second].tried) try_out(thread, call, stream);
  thread.add(program::EndMark{});
}

// Timed with events, one way after another.
void Convolutions::try_out(ThreadWriter& thread, const Call& call, Index stream) {
  if (call.workspace != kNoIndex) thread.add(program::Alloc{call.workspace, stream});
  for (const Index operation : call.operations)
    thread.add(program::Launch{operation, stream, kNoIndex, true});
  thread.add(program::StreamSync{stream});
  if (call.workspace != kNoIndex) thread.add(program::Free{call.workspace});
}

}  // namespace trainscope::train
