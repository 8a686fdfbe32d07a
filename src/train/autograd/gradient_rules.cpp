#include "train/autograd/gradient_rules.h"

namespace trainscope::train {
namespace {

using program::Part;

constexpr Source kDy{};
constexpr Source kY{Source::Kind::kOutput};
constexpr Source input(std::size_t place) {
  return {Source::Kind::kInput, place};
}
constexpr Source side(std::size_t place) {
  return {Source::Kind::kSide, place};
}

template <typename Layer>
Layer with(Layer layer, Part part) {
  layer.part = part;
  return layer;
}

struct Rules {
  using List = std::vector<GradientRule>;

  // x, w, b
  template <typename Product>
  List product(const Product& f) const {
    List rules{{with(f, Part::kInputGradient), {kDy, input(1)}, {0}},
               {with(f, Part::kWeightGradient), {kDy, input(0)}, {1}}};
    if (f.bias) rules.push_back({with(f, Part::kBiasGradient), {kDy}, {2}});
    return rules;
  }
  List operator()(const program::Linear& f) const { return product(f); }
  List operator()(const program::Convolution& f) const { return product(f); }
  List operator()(const program::Activation& f) const {
    const bool by_result =
        f.kind == program::ActivationKind::kRelu || f.kind == program::ActivationKind::kTanh;
    const Source kept = by_result ? kY : input(0);
    return {{with(f, Part::kInputGradient), {kDy, kept}, {0}}};
  }
  List operator()(const program::MaxPooling& f) const {
    return {{with(f, Part::kInputGradient), {kDy, side(0)}, {0}}};
  }
  List operator()(const program::AveragePooling& f) const {
    return {{with(f, Part::kInputGradient), {kDy}, {0}}};
  }
  List operator()(const program::BatchNorm& f) const {
    return {
        {with(f, Part::kInputGradient), {kDy, input(0), input(1), side(0), side(1)}, {0, 1, 2}}};
  }
  List operator()(const program::LayerNorm& f) const {
    return {{with(f, Part::kInputGradient), {kDy, input(0), input(1), side(0), side(1)}, {0}},
            {with(f, Part::kWeightGradient), {kDy, input(0), side(0), side(1)}, {1, 2}}};
  }
  List operator()(const program::RmsNorm& f) const {
    return {{with(f, Part::kInputGradient), {kDy, input(0), input(1), side(0)}, {0}},
            {with(f, Part::kWeightGradient), {kDy, input(0), side(0)}, {1}}};
  }
  List operator()(const program::Rotate& f) const {
    program::Rotate back = f;
    back.back = !f.back;
    return {{back, {kDy}, {0}}};
  }
  List operator()(const program::Product& f) const {
    return {{f, {kDy, input(1)}, {0}}, {f, {kDy, input(0)}, {1}}};
  }
  List operator()(const program::Embedding& f) const {
    return {{with(f, Part::kWeightGradient), {kDy, input(0)}, {1}}};
  }
  List operator()(const program::AddPositions& f) const {
    return {{with(f, Part::kWeightGradient), {kDy}, {1}}};
  }
  List operator()(const program::Dropout& f) const {
    return {{with(f, Part::kInputGradient), {kDy, side(0), side(1)}, {0}}};
  }
  List operator()(const program::Attention& f) const {
    GradientRule rule{with(f, Part::kInputGradient), {kDy, input(0), side(0)}, {0}};
    if (!f.packed) {
      rule.reads = {kDy, input(0), input(1), input(2), side(0)};
      rule.wanted = {0, 1, 2};
    }
    if (f.flash) rule.reads.push_back(kY);
    return {rule};
  }
  List operator()(const program::LogSoftmax& f) const {
    return {{with(f, Part::kInputGradient), {kDy, kY}, {0}}};
  }
  List operator()(const program::NllLoss& f) const {
    return {{with(f, Part::kInputGradient), {kDy, input(1)}, {0}}};
  }
  List operator()(const program::Cast& f) const { return {{f, {kDy}, {0}}}; }
  // Of a flatten, which turns a matrix a sample round: back again.
  List operator()(const program::CopyRuns& f) const {
    program::CopyRuns back = f;
    back.outer = f.inner;
    back.inner = f.outer;
    back.inner_step = f.inner;
    return {{back, {kDy}, {0}}};
  }
  // The factor's buffer, where there is one, is the second input.
  List operator()(const program::Multiply& f) const { return {{f, {kDy, input(1)}, {0}}}; }
  template <typename Other>
  List operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::vector<std::size_t> passed_through(const program::Function& function) {
  if (std::holds_alternative<program::Add>(function)) return {0, 1};
  if (std::holds_alternative<program::AddPositions>(function)) return {0};
  return {};
}

std::vector<GradientRule> gradient_rules(const program::Function& function) {
  return std::visit(Rules{}, function);
}

}  // namespace trainscope::train
