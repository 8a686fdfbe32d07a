#include "program/products.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/whole.h"

namespace trainscope::program {
namespace {

// Of attention's products, which are the batched ones and say how many: "bmm 96 of 1024x64x1024".
std::int64_t batch_of(const Operation& operation) {
  constexpr std::string_view kName = "bmm ";
  std::int64_t batch = 0;
  if (operation.kernel.starts_with(kName))
    std::from_chars(operation.kernel.data() + kName.size(),
                    operation.kernel.data() + operation.kernel.size(), batch);
  return batch;
}

}  // namespace

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

machine::GemmPlan product_plan(const Operation& operation, const machine::Gpu& gpu) {
  const auto* linear = std::get_if<Linear>(&operation.function);
  const bool turned = linear && linear->part == Part::kWeightGradient;
  const machine::GemmType type = gemm_type(operation.type);
  const std::int64_t batch = batch_of(operation);
  const machine::GemmPlan plan =
      machine::plan_product(gpu, operation.m, operation.n, operation.k, type, turned, batch);
  if (!operation.compiled || plan.aligned || !plan.on_tensor_cores()) return plan;

  const auto padded = [&](std::int64_t side) {
    const std::int64_t numbers = 16 / size_of(operation.type);
    return round_up(side, numbers);
  };
  machine::GemmPlan aligned = machine::plan_product(gpu, padded(operation.m), padded(operation.n),
                                                    padded(operation.k), type, turned, batch);
  constexpr double kMuchQuicker = 1.1;
  if (machine::waves_of(gpu, plan) <= kMuchQuicker * machine::waves_of(gpu, aligned)) return plan;
  aligned.flops = plan.flops;
  aligned.bytes = plan.bytes;
  return aligned;
}

// Convolutions and attention have grids of their own.
std::optional<machine::GemmPlan> tiles_of(const Operation& operation, const machine::Gpu& gpu) {
  if (operation.kind != OperationKind::kGemm || operation.efficiency > 0) return std::nullopt;
  machine::GemmPlan tiles = product_plan(operation, gpu);
  // A map of them has one matrix.
  if ((tiles.tiles_m - 1) * tiles.tile_m >= operation.m) return std::nullopt;
  const bool same = tiles.blocks() == operation.blocks && tiles.flops == operation.flops &&
                    tiles.threads == operation.threads;
  return same ? std::optional(std::move(tiles)) : std::nullopt;
}

}  // namespace trainscope::program
