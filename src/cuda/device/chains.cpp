#include "cuda/device/chains.h"

#include <algorithm>
#include <map>

namespace trainscope::cuda {
namespace {

using kernels::ChainAction;
using program::ElementType;
using program::Index;

std::optional<kernels::NumberType> number_type(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
    case ElementType::kTf32:
      return kernels::NumberType::kFp32;
    case ElementType::kFp16:
      return kernels::NumberType::kFp16;
    case ElementType::kBf16:
      return kernels::NumberType::kBf16;
    default:
      return std::nullopt;
  }
}

// What a part does with its first reads; nothing where it is no step.
struct Step {
  ChainAction action = ChainAction::kMove;
  float factor = 1;
  std::size_t reads = 1;
  bool reads_result = false;  // y = y + x
  bool kept_first = false;    // dy is read first, and the chain wants it second
};

struct StepOf {
  std::optional<Step> operator()(const program::Activation& f) const {
    using Kind = program::ActivationKind;
    const bool forward = f.part == program::Part::kForward;
    const ChainAction action =
        f.kind == Kind::kRelu   ? (forward ? ChainAction::kRelu : ChainAction::kReluSlope)
        : f.kind == Kind::kGelu ? (forward ? ChainAction::kGeluErf : ChainAction::kGeluErfSlope)
                                : (forward ? ChainAction::kGeluTanh : ChainAction::kGeluTanhSlope);
    return Step{action, 1, forward ? 1U : 2U, false, !forward};
  }
  std::optional<Step> operator()(const program::Add&) const {
    return Step{ChainAction::kAdd, 1, 2};
  }
  std::optional<Step> operator()(const program::Accumulate& f) const {
    if (f.from != 0) return std::nullopt;
    return Step{ChainAction::kAdd, 1, 1, true};
  }
  std::optional<Step> operator()(const program::Multiply& f) const {
    const auto factor = static_cast<float>(f.factor);
    if (reads > 1) return Step{ChainAction::kScaleBy, factor, 2};
    return Step{ChainAction::kScale, factor, 1};
  }
  std::optional<Step> operator()(const program::Cast&) const { return Step{}; }
  std::optional<Step> operator()(const program::Fill& f) const {
    return Step{ChainAction::kFill, static_cast<float>(f.value), 0};
  }
  template <typename Other>
  std::optional<Step> operator()(const Other&) const {
    return std::nullopt;
  }
  std::size_t reads = 0;  // of the part
};

class Builder {
 public:
  explicit Builder(std::int64_t values) { chain_.values = static_cast<std::size_t>(values); }

  bool add(const KernelCall& part) {
    const program::Operation& one = *part.operation;
    const auto step = std::visit(StepOf{part.reads.size()}, one.function);
    if (!step || part.writes.size() != 1 || part.reads.size() < step->reads) return false;
    if (chain_.step_count == kernels::kMostChainSteps) return false;
    const Operand& to = part.writes.front();
    const auto type = number_type(to.type);
    if (!type || !is_whole(to)) return false;
    std::vector<int> from;
    for (std::size_t i = 0; i < step->reads; ++i) from.push_back(read(one.reads[i], part.reads[i]));
    if (step->reads_result) from.push_back(read(one.writes[0], to));
    if (std::count(from.begin(), from.end(), kNone) > 0) return false;
    if (step->kept_first) std::swap(from[0], from[1]);
    const auto place = [&](std::size_t i) {
      return static_cast<std::uint8_t>(from.empty() ? 0 : from[std::min(i, from.size() - 1)]);
    };
    const auto result = static_cast<std::uint8_t>(kernels::kMostChainOperands + chain_.step_count);
    chain_.steps[chain_.step_count++] = {step->action, *type,  place(0),
                                         place(1),     result, step->factor};
    places_[one.writes[0]] = result;
    return true;
  }

  // False: the kernel leaves what no step has written.
  bool leave(Index buffer, const Operand& operand) {
    const auto found = places_.find(buffer);
    const auto type = number_type(operand.type);
    if (found == places_.end() || !type || !is_whole(operand) ||
        chain_.write_count == kernels::kMostChainOperands)
      return false;
    chain_.writes[chain_.write_count++] = {operand.memory, *type,
                                           static_cast<std::uint8_t>(found->second), false};
    return true;
  }

  const kernels::Chain& chain() const { return chain_; }

 private:
  static constexpr int kNone = -1;

  bool is_whole(const Operand& operand) const {
    return static_cast<std::size_t>(operand.elements) == chain_.values;
  }

  // The register that has the buffer's values; kNone: it cannot be read value by value.
  int read(Index buffer, const Operand& operand) {
    if (const auto found = places_.find(buffer); found != places_.end()) return found->second;
    const auto type = number_type(operand.type);
    const bool single = operand.elements == 1;
    if (!type || !(single || is_whole(operand)) || chain_.read_count == kernels::kMostChainOperands)
      return kNone;
    const int place = chain_.read_count;
    chain_.reads[chain_.read_count++] = {operand.memory, *type, static_cast<std::uint8_t>(place),
                                         single && !is_whole(operand)};
    return places_[buffer] = place;
  }

  kernels::Chain chain_;
  std::map<Index, int> places_;  // by buffer: the register with its values as they are now
};

}  // namespace

std::optional<kernels::Chain> chain_of(const KernelCall& call) {
  if (call.parts.empty() || call.parts.front().writes.empty()) return std::nullopt;
  Builder builder(call.parts.front().writes.front().elements);
  for (const KernelCall& part : call.parts)
    if (!builder.add(part)) return std::nullopt;
  for (std::size_t i = 0; i < call.writes.size(); ++i)
    if (!builder.leave(call.operation->writes[i], call.writes[i])) return std::nullopt;
  return builder.chain();
}

}  // namespace trainscope::cuda
