#include "train/kernels/one_by_one.h"

#include <variant>

namespace trainscope::train {
namespace {

bool is_cast(const program::Operation& operation) {
  return std::holds_alternative<program::Cast>(operation.function) || operation.kernel == "cast";
}

// Whether what is cast gets shorter; false where it lies in no buffer.
bool narrows(const program::Program& program, const program::Operation& operation) {
  if (operation.reads.empty() || operation.writes.empty()) return false;
  const auto bytes = [&](program::Index buffer) {
    return program::size_of(program.buffers[buffer].type);
  };
  return bytes(operation.writes.front()) < bytes(operation.reads.front());
}

bool moves_one_by_one(const program::Program& program, const program::Operation& operation,
                      const machine::Gpu& gpu) {
  constexpr double kFirstOfVectors = 9.0;
  if (is_cast(operation))
    return gpu.compute_capability < kFirstOfVectors || !narrows(program, operation);
  // A table of positions, of which a sequence has one, is added to all of a batch.
  const auto* positions = std::get_if<program::AddPositions>(&operation.function);
  if (positions) return positions->part == program::Part::kForward;
  return operation.kernel.starts_with("elementwise_kernel: ");
}

}  // namespace

double numbers_per_cycle(const program::Program& program, const program::Operation& operation,
                         const machine::Gpu& gpu) {
  if (operation.compiled || !operation.parts.empty()) return 0;
  if (moves_one_by_one(program, operation, gpu)) return kOneByOne;
  const auto* dropout = std::get_if<program::Dropout>(&operation.function);
  const bool draws =
      dropout ? dropout->part == program::Part::kForward : operation.kernel == "dropout";
  return draws ? kDrawn : 0;
}

}  // namespace trainscope::train
