#include "train/compile/fusion_loop.h"

namespace trainscope::train {
namespace {

using program::Part;

struct LoopOf {
  using Loop = std::optional<FusionLoop>;

  static FusionLoop each(std::int64_t elements) { return {elements, 0}; }
  static FusionLoop rows(std::int64_t rows, std::int64_t columns) {
    return {rows * columns, rows, true};
  }
  static FusionLoop columns(std::int64_t rows, std::int64_t columns) {
    return {rows * columns, columns};
  }

  Loop operator()(const program::Linear& f) const {
    if (f.part != Part::kBiasGradient) return std::nullopt;
    return columns(f.rows, f.outputs);
  }
  Loop operator()(const program::Convolution& f) const {
    if (f.part != Part::kBiasGradient) return std::nullopt;
    return columns(f.batch * f.out_height() * f.out_width(), f.outputs);
  }
  Loop operator()(const program::Activation& f) const { return each(f.elements); }
  Loop operator()(const program::MaxPooling& f) const {
    const std::int64_t pixels =
        f.part == Part::kForward ? f.out_height() * f.out_width() : f.height * f.width;
    return FusionLoop{f.batch * f.channels * pixels, 0, false, true};
  }
  Loop operator()(const program::AveragePooling& f) const {
    if (f.part == Part::kForward) return rows(f.batch * f.channels, f.pixels);
    return each(f.batch * f.channels * f.pixels);
  }
  Loop operator()(const program::BatchNorm& f) const {
    const std::int64_t pixels = f.batch * f.height * f.width;
    if (f.part == Part::kForward && !f.training) return each(pixels * f.channels);
    return columns(pixels, f.channels);
  }
  Loop operator()(const program::LayerNorm& f) const {
    if (f.part == Part::kWeightGradient) return columns(f.rows, f.columns);
    return rows(f.rows, f.columns);
  }
  Loop operator()(const program::RmsNorm& f) const {
    if (f.part == Part::kWeightGradient) return columns(f.rows, f.columns);
    return rows(f.rows, f.columns);
  }
  // What it reads of a head's other half is computed again rather than read: Inductor writes what
  // is done to each element into whoever reads it (torch/_inductor/graph.py, lowering).
  Loop operator()(const program::Rotate& f) const { return each(f.elements()); }
  Loop operator()(const program::Embedding& f) const {
    const bool forward = f.part == Part::kForward;
    return FusionLoop{f.tokens * f.width, 0, false, forward, !forward};
  }
  Loop operator()(const program::AddPositions& f) const {
    if (f.part == Part::kForward) return each(f.batch * f.length * f.width);
    return columns(f.batch, f.length * f.width);
  }
  Loop operator()(const program::Dropout& f) const { return each(f.elements); }
  Loop operator()(const program::Add& f) const { return each(f.elements); }
  Loop operator()(const program::Product& f) const { return each(f.elements); }
  Loop operator()(const program::Multiply& f) const { return each(f.elements); }
  Loop operator()(const program::Fill& f) const { return each(f.elements); }
  Loop operator()(const program::Cast& f) const { return each(f.elements); }
  template <typename Other>
  Loop operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<FusionLoop> fusion_loop(const program::Function& function) {
  return std::visit(LoopOf{}, function);
}

}  // namespace trainscope::train
