#include "sim/kernel_model.h"

#include <algorithm>

namespace trainscope::sim {
namespace {

double peak_flops_per_s(const program::Operation& operation, const machine::Gpu& gpu) {
  using program::ElementType;
  const bool tensor_cores = operation.kind == program::OperationKind::kGemm;
  if (tensor_cores && operation.type == ElementType::kTf32 && gpu.tf32_flops_per_s > 0)
    return gpu.tf32_flops_per_s;
  const bool half = operation.type == ElementType::kFp16 || operation.type == ElementType::kBf16;
  if (tensor_cores && half && gpu.fp16_flops_per_s > 0) return gpu.fp16_flops_per_s;
  return gpu.fp32_flops_per_s;
}

// Of all SMs, those that its blocks can fill, one block each.
double share_of_sms(const program::Operation& operation, const machine::Gpu& gpu) {
  const auto blocks = static_cast<double>(grid_blocks(operation, gpu));
  return std::min(1.0, blocks / static_cast<double>(gpu.sm_count));
}

}  // namespace

std::int64_t grid_blocks(const program::Operation& operation, const machine::Gpu& gpu) {
  constexpr std::int64_t kLeast = 256;  // assumed: below it a block's start and sum outweigh it
  if (operation.kind != program::OperationKind::kGemm || operation.block_work)
    return operation.blocks;
  const std::int64_t wanted = gpu.sm_count / std::max<std::int64_t>(operation.blocks, 1);
  return operation.blocks *
         std::clamp<std::int64_t>(operation.k / kLeast, 1, std::max<std::int64_t>(wanted, 1));
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
  const bool gemm = operation.kind == program::OperationKind::kGemm;
  const double rate = peak_flops_per_s(operation, gpu) * (gemm ? gpu.gemm_efficiency : 1.0);
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
