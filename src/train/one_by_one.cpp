#include "train/one_by_one.h"

#include <variant>

namespace trainscope::train {
namespace {

bool moves_one_by_one(const program::Operation& operation) {
  if (std::holds_alternative<program::Cast>(operation.function)) return true;
  // A table of positions, of which a sequence has one, is added to all of a batch.
  const auto* positions = std::get_if<program::AddPositions>(&operation.function);
  if (positions) return positions->part == program::Part::kForward;
  return operation.kernel == "cast" || operation.kernel.starts_with("elementwise_kernel: ");
}

}  // namespace

double numbers_per_cycle(const program::Operation& operation) {
  if (operation.compiled || !operation.parts.empty()) return 0;
  if (moves_one_by_one(operation)) return kOneByOne;
  const auto* dropout = std::get_if<program::Dropout>(&operation.function);
  const bool draws =
      dropout ? dropout->part == program::Part::kForward : operation.kernel == "dropout";
  return draws ? kDrawn : 0;
}

}  // namespace trainscope::train
