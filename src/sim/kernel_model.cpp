#include "sim/kernel_model.h"

#include <algorithm>

namespace trainscope::sim {
namespace {

// Of all SMs, those that its blocks can fill, one block each.
double share_of_sms(const program::Operation& operation, const machine::Gpu& gpu) {
  const auto blocks = static_cast<double>(grid_blocks(operation, gpu));
  return std::min(1.0, blocks / static_cast<double>(gpu.sm_count));
}

}  // namespace

std::int64_t grid_blocks(const program::Operation& operation, const machine::Gpu& gpu) {
  constexpr std::int64_t kLeast = 256;  // assumed: below it a block's start and sum outweigh it
  if (operation.kind != program::OperationKind::kGemm || operation.block_work ||
      operation.efficiency > 0)
    return operation.blocks;
  const std::int64_t wanted = gpu.sm_count / std::max<std::int64_t>(operation.blocks, 1);
  return operation.blocks *
         std::clamp<std::int64_t>(operation.k / kLeast, 1, std::max<std::int64_t>(wanted, 1));
}

machine::Math math_of(const program::Operation& operation, const machine::Gpu& gpu) {
  using program::ElementType;
  if (operation.block_work) return operation.block_work->math;
  const bool tensor_cores = operation.kind == program::OperationKind::kGemm;
  if (tensor_cores && operation.type == ElementType::kTf32 && gpu.tf32_flops_per_s > 0)
    return machine::Math::kTensorTf32;
  const bool half = operation.type == ElementType::kFp16 || operation.type == ElementType::kBf16;
  if (tensor_cores && half && gpu.fp16_flops_per_s > 0) return machine::Math::kTensorFp16;
  return machine::Math::kFp32;
}

machine::KernelWork kernel_work(const program::Operation& operation, const machine::Gpu& gpu) {
  machine::KernelWork work;
  work.math = math_of(operation, gpu);
  if (operation.efficiency > 0)
    work.efficiency = operation.efficiency;
  else if (operation.kind == program::OperationKind::kGemm)
    work.efficiency = gpu.gemm_efficiency;
  work.flops = operation.flops;
  work.bytes = operation.bytes;
  const double footprint = operation.block_work ? operation.block_work->footprint : 0;
  work.device_bytes = operation.bytes * (1 - machine::l2_hits(gpu, footprint));
  return work;
}

KernelNeeds kernel_needs(const program::Operation& operation, const machine::Gpu& gpu) {
  KernelNeeds needs;
  if (operation.kind == program::OperationKind::kOpaque) {
    needs.floor_ns = operation.opaque_duration;
    needs.arithmetic_share = share_of_sms(operation, gpu);
    // Alone it takes its duration, which is the floor: the arithmetic, a hair shorter so that
    // rounding adds nothing, matters only while others take the same SMs.
    constexpr double kHair = 1e-9;
    needs.arithmetic_ns =
        static_cast<double>(operation.opaque_duration) * needs.arithmetic_share * (1 - kHair);
    return needs;
  }
  const machine::KernelWork work = kernel_work(operation, gpu);
  const double rate = *machine::peak_flops_per_s(gpu, work.math) * work.efficiency;
  needs.arithmetic_ns = operation.flops / rate * 1e9;
  needs.arithmetic_share = share_of_sms(operation, gpu);
  needs.memory_ns = operation.bytes / (gpu.memory_bytes_per_s * gpu.memory_efficiency) * 1e9;
  needs.floor_ns = gpu.kernel_floor_ns;
  return needs;
}

Nanos operator_cost(const std::string& profile, const machine::Host& host) {
  if (profile == "pytorch-eager") return host.eager_operator_ns;
  if (profile == "pytorch-compiled") return host.compiled_operator_ns;
  return 0;
}

}  // namespace trainscope::sim
