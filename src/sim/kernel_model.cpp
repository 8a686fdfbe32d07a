#include "sim/kernel_model.h"

#include <algorithm>

#include "machine/convolution_tiles.h"
#include "machine/gemm_tiles.h"
#include "program/products.h"

namespace trainscope::sim {
std::int64_t grid_blocks(const program::Operation& operation, const machine::Gpu& gpu) {
  constexpr std::int64_t kLeast = 256;  // assumed: below it a block's start and sum outweigh it
  if (operation.kind != program::OperationKind::kGemm || operation.block_work ||
      operation.efficiency > 0)
    return operation.blocks;
  const std::int64_t wanted = gpu.sm_count / std::max<std::int64_t>(operation.blocks, 1);
  return operation.blocks *
         std::clamp<std::int64_t>(operation.k / kLeast, 1, std::max<std::int64_t>(wanted, 1));
}

machine::KernelWork kernel_work(const program::Operation& operation, const machine::Gpu& gpu) {
  machine::KernelWork work;
  work.math = program::math_of(operation, gpu);
  if (operation.efficiency > 0)
    work.efficiency = operation.efficiency;
  else if (operation.kind == program::OperationKind::kGemm)
    // What its tiles reach: tensor cores that wait for operands are busy as arithmetic sees it.
    work.efficiency = operation.block_work ? operation.block_work->efficiency
                                           : machine::product_share(gpu, work.math);
  work.flops = operation.flops;
  work.bytes = operation.bytes;
  const double footprint = operation.block_work ? operation.block_work->footprint : 0;
  work.device_bytes = operation.bytes * (1 - machine::l2_hits(gpu, footprint));
  return work;
}

program::BlockWork block_work(const program::Operation& operation, const machine::Gpu& gpu) {
  if (operation.block_work) return *operation.block_work;
  const std::int64_t grid = grid_blocks(operation, gpu);
  const auto blocks = static_cast<double>(grid);
  const machine::KernelWork whole = kernel_work(operation, gpu);
  program::BlockWork work;
  work.flops = operation.flops / blocks;
  work.bytes = operation.bytes / blocks;
  work.math = whole.math;
  // What the last wave leaves idle is in a planned kernel's figure already.
  work.efficiency = operation.efficiency > 0 ? whole.efficiency / machine::last_wave(gpu, grid)
                                             : whole.efficiency;
  return work;
}

Nanos kernel_floor(const program::Operation& operation, const machine::Gpu& gpu) {
  return operation.kind == program::OperationKind::kOpaque ? operation.opaque_duration
                                                           : gpu.kernel_floor_ns;
}

Nanos operator_cost(const std::string& profile, const machine::Host& host) {
  if (profile == "pytorch-eager") return host.eager_operator_ns;
  if (profile == "pytorch-compiled") return host.compiled_operator_ns;
  return 0;
}

}  // namespace trainscope::sim
