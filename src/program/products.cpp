#include "program/products.h"

namespace trainscope::program {

machine::GemmType gemm_type(ElementType type) {
  switch (type) {
    case ElementType::kTf32:
      return machine::GemmType::kTf32;
    case ElementType::kFp16:
      return machine::GemmType::kFp16;
    case ElementType::kBf16:
      return machine::GemmType::kBf16;
    default:
      return machine::GemmType::kFp32;
  }
}

machine::Math math_of(const Operation& operation, const machine::Gpu& gpu) {
  if (operation.block_work) return operation.block_work->math;
  if (operation.kind != OperationKind::kGemm) return machine::Math::kFp32;
  return machine::unit_for(gpu, gemm_type(operation.type));
}

// A product of the workload `gemm` has the largest tiles, one of a model those that take the least
// time. Convolutions and attention have grids of their own.
std::optional<machine::GemmPlan> tiles_of(const Operation& operation, const machine::Gpu& gpu) {
  if (operation.kind != OperationKind::kGemm || operation.efficiency > 0) return std::nullopt;
  const machine::GemmType type = gemm_type(operation.type);
  for (const auto plan : {machine::plan_gemm, machine::plan_product}) {
    machine::GemmPlan tiles = plan(gpu, operation.m, operation.n, operation.k, type);
    if (tiles.blocks() == operation.blocks && tiles.flops == operation.flops &&
        tiles.threads == operation.threads)
      return tiles;
  }
  return std::nullopt;
}

}  // namespace trainscope::program
