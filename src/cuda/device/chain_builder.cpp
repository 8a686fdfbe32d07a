#include "cuda/device/chain_builder.h"

#include <algorithm>

#include "cuda/device/operands.h"
#include "cuda/device/shapes.h"

namespace trainscope::cuda {
namespace {

using kernels::ChainAction;
using kernels::ChainFrom;
using kernels::NumberType;
using program::ElementType;
using program::Index;
using program::Part;

// What a part does with its first reads.
struct Step {
  ChainAction action = ChainAction::kMove;
  float factor = 1;
  std::size_t reads = 1;
  bool reads_result = false;  // y = y + x
  bool kept_first = false;    // dy is read first, and the chain wants it second
};

struct PlainStep {
  std::optional<Step> operator()(const program::Activation& f) const {
    using Kind = program::ActivationKind;
    if (f.kind == Kind::kSilu) return std::nullopt;  // chains have no step for it
    const bool forward = f.part == Part::kForward;
    const ChainAction action =
        f.kind == Kind::kRelu   ? (forward ? ChainAction::kRelu : ChainAction::kReluSlope)
        : f.kind == Kind::kTanh ? (forward ? ChainAction::kTanh : ChainAction::kTanhSlope)
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

void set_extent(kernels::ChainRead& how, std::size_t extent) {
  how.extent = kernels::Divisor(extent);
  how.in_eights = extent % 8 == 0;
}

bool has_one_type(const KernelCall& part, std::initializer_list<std::size_t> reads) {
  return std::all_of(reads.begin(), reads.end(), [&](std::size_t i) {
    return stored(part.reads[i].type) == stored(part.writes[0].type);
  });
}

}  // namespace

std::optional<NumberType> number_type(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
    case ElementType::kTf32:
      return NumberType::kFp32;
    case ElementType::kFp16:
      return NumberType::kFp16;
    case ElementType::kBf16:
      return NumberType::kBf16;
    default:
      return std::nullopt;
  }
}

// Parts whose operands lie at other places, or that draw: the register of their result.
struct ChainBuilder::Elsewhere {
  ChainBuilder& builder;
  const KernelCall& part;

  Index buffer(std::size_t i) const { return part.operation->reads[i]; }

  int operator()(const program::Embedding& f) const {
    if (f.part != Part::kForward || !has_one_type(part, {1})) return kNoRegister;
    kernels::ChainRead how;
    how.from = ChainFrom::kRowOf;
    set_extent(how, size(f.width));
    how.rows = size(f.vocabulary);
    how.index = part.reads[0].memory;
    builder.group_.elsewhere.insert(buffer(0));
    return builder.read_elsewhere(buffer(1), part.reads[1], how);
  }
  int operator()(const program::AddPositions& f) const {
    if (f.part != Part::kForward || !has_one_type(part, {0, 1})) return kNoRegister;
    kernels::ChainRead how;
    how.from = ChainFrom::kRepeated;
    set_extent(how, size(f.length * f.width));
    const int x = builder.read(buffer(0), part.reads[0]);
    const int table = builder.read_elsewhere(buffer(1), part.reads[1], how);
    if (x == kNoRegister || table == kNoRegister) return kNoRegister;
    return builder.step(ChainAction::kAdd, *number_type(part.writes[0].type), {x, table}, 1);
  }
  int operator()(const program::MaxPooling& f) const {
    if (f.part == Part::kForward) return kNoRegister;
    kernels::ChainRead how;
    how.from = ChainFrom::kMaxPool;
    how.index = part.reads[1].memory;
    builder.group_.elsewhere.insert(buffer(1));
    return pooled(pool_of(f), how);
  }
  int operator()(const program::AveragePooling& f) const {
    if (f.part == Part::kForward) return kNoRegister;
    kernels::ChainRead how;
    how.from = ChainFrom::kAveragePool;
    kernels::MaxPool pool;
    pool.input = image_of(f);
    return pooled(pool, how);
  }
  int operator()(const program::Dropout& f) const {
    return has_one_type(part, {0}) ? builder.drop(f, part) : kNoRegister;
  }
  template <typename Other>
  int operator()(const Other&) const {
    return kNoRegister;
  }

 private:
  int pooled(const kernels::MaxPool& pool, const kernels::ChainRead& how) const {
    if (builder.has_pool_ || !has_one_type(part, {0})) return kNoRegister;
    builder.has_pool_ = true;
    builder.chain_.pool = pool;
    const int sum = builder.read_elsewhere(buffer(0), part.reads[0], how);
    if (sum == kNoRegister) return kNoRegister;
    return builder.step(ChainAction::kMove, *number_type(part.writes[0].type), {sum}, 1);
  }
};

bool ChainBuilder::add(const KernelCall& part) {
  if (part.writes.empty() || !number_type(part.writes[0].type) || !is_whole(part.writes[0]))
    return false;
  const int found = std::visit(Elsewhere{*this, part}, part.operation->function);
  if (found == kNoRegister) return add_step(part);
  const Index buffer = part.operation->writes[0];
  places_[buffer] = found;
  return is_written(buffer);
}

bool ChainBuilder::add_step(const KernelCall& part) {
  const program::Operation& one = *part.operation;
  const auto plain = std::visit(PlainStep{part.reads.size()}, one.function);
  if (!plain || part.writes.size() != 1 || part.reads.size() < plain->reads) return false;
  std::vector<int> from;
  for (std::size_t i = 0; i < plain->reads; ++i) from.push_back(read(one.reads[i], part.reads[i]));
  if (plain->reads_result) from.push_back(read(one.writes[0], part.writes[0]));
  if (std::count(from.begin(), from.end(), kNoRegister) > 0) return false;
  if (plain->kept_first) std::swap(from[0], from[1]);
  const int result = step(plain->action, *number_type(part.writes[0].type), from, plain->factor);
  if (result == kNoRegister) return false;
  places_[one.writes[0]] = result;
  return is_written(one.writes[0]);
}

bool ChainBuilder::leave(Index buffer, const Operand& operand) {
  if (draws_.contains(buffer)) return true;
  const auto found = places_.find(buffer);
  const auto type = number_type(operand.type);
  if (found == places_.end() || !type || !is_whole(operand) ||
      chain_.write_count == kernels::kMostChainOperands)
    return false;
  kernels::ChainWrite& write = chain_.writes[chain_.write_count++];
  write.memory = operand.memory;
  write.type = *type;
  write.place = static_cast<std::uint8_t>(found->second);
  return true;
}

int ChainBuilder::read(Index buffer, const Operand& operand) {
  if (const auto found = places_.find(buffer); found != places_.end()) return found->second;
  if (operand.elements == 1 && !is_whole(operand)) {
    kernels::ChainRead how;
    how.from = ChainFrom::kSingle;
    return places_[buffer] = read_elsewhere(buffer, operand, how);
  }
  if (!is_whole(operand)) return kNoRegister;
  const int place = read_elsewhere(buffer, operand, {});
  return place == kNoRegister ? kNoRegister : places_[buffer] = place;
}

int ChainBuilder::define(Index buffer, const Operand& operand) {
  if (!is_whole(operand) || registers_ == kernels::kChainRegisters || !is_written(buffer))
    return kNoRegister;
  return places_[buffer] = registers_++;
}

bool ChainBuilder::move(int from, NumberType type, Index buffer, const Operand& operand) {
  const int result = step(ChainAction::kMove, type, {from}, 1);
  if (result == kNoRegister || !is_whole(operand)) return false;
  places_[buffer] = result;
  return is_written(buffer);
}

int ChainBuilder::in_type(int from, ElementType has, ElementType wanted) {
  const auto type = number_type(wanted);
  if (from == kNoRegister || !type) return kNoRegister;
  return stored(has) == stored(wanted) ? from : step(ChainAction::kMove, *type, {from}, 1);
}

bool ChainBuilder::is_whole(const Operand& operand) const {
  return size(operand.elements) == chain_.values;
}

bool ChainBuilder::is_written(Index buffer) {
  group_.written.insert(buffer);
  return !group_.elsewhere.contains(buffer);
}

int ChainBuilder::step(ChainAction action, NumberType type, const std::vector<int>& from,
                       float factor) {
  if (chain_.step_count == kernels::kMostChainSteps || registers_ == kernels::kChainRegisters)
    return kNoRegister;
  const auto place = [&](std::size_t i) {
    return static_cast<std::uint8_t>(from.empty() ? 0 : from[std::min(i, from.size() - 1)]);
  };
  chain_.steps[chain_.step_count++] = {
      action, type, place(0), place(1), static_cast<std::uint8_t>(registers_), factor};
  return registers_++;
}

int ChainBuilder::read_elsewhere(Index buffer, const Operand& operand, kernels::ChainRead how) {
  const auto type = number_type(operand.type);
  if (!type || group_.written.contains(buffer) || registers_ == kernels::kChainRegisters ||
      chain_.read_count == kernels::kMostChainOperands)
    return kNoRegister;
  if (how.from != ChainFrom::kEach) group_.elsewhere.insert(buffer);
  how.memory = operand.memory;
  how.type = *type;
  how.place = static_cast<std::uint8_t>(registers_);
  chain_.reads[chain_.read_count++] = how;
  return registers_++;
}

int ChainBuilder::drop(const program::Dropout& f, const KernelCall& part) {
  const int x = read(part.operation->reads[0], part.reads[0]);
  if (x == kNoRegister || chain_.drop_count == kernels::kMostDrops) return kNoRegister;
  for (std::size_t i = 1; i < part.writes.size(); ++i) draws_.insert(part.operation->writes[i]);
  const kernels::Dropout how = dropout_of(f, part);
  chain_.drops[chain_.drop_count] = how;
  return step(ChainAction::kDrop, *number_type(part.writes[0].type), {x, chain_.drop_count++},
              kernels::scale_of(how));
}

}  // namespace trainscope::cuda
