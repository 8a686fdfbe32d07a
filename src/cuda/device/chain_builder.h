// A chain of steps from the parts of a fused kernel, part by part.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cuda/device_calls.h"
#include "kernels/chain.h"

namespace trainscope::cuda {

inline constexpr int kNoRegister = -1;

std::optional<kernels::NumberType> number_type(program::ElementType type);

// What the chains of one fused kernel know of each other.
struct ChainGroup {
  std::set<program::Index> written;    // by any of them: their memory is not read any more
  std::set<program::Index> elsewhere;  // read at other places than a value's own: never written
};

class ChainBuilder {
 public:
  ChainBuilder(std::int64_t values, ChainGroup& group) : group_(group) {
    chain_.values = static_cast<std::size_t>(values);
  }

  // The part as a step. False: it is none, or cannot be one of these; nothing is of use then.
  bool add(const KernelCall& part);
  // False: the buffer is none that a part has written.
  bool leave(program::Index buffer, const Operand& operand);

  bool has(program::Index buffer) const { return places_.contains(buffer); }
  // The register that has the buffer's values; kNoRegister: it cannot be read value by value.
  int read(program::Index buffer, const Operand& operand);
  // One for values that come from between the steps, and are the buffer's from here on.
  int define(program::Index buffer, const Operand& operand);
  // The values of a register in a type, which are the buffer's from here on: a step.
  bool move(int from, kernels::NumberType type, program::Index buffer, const Operand& operand);
  // Of values that are read by no step, in a type that is not theirs.
  int in_type(int from, program::ElementType has, program::ElementType wanted);

  const kernels::Chain& chain() const { return chain_; }

 private:
  struct Elsewhere;

  bool is_whole(const Operand& operand) const;
  bool is_written(program::Index buffer);
  int step(kernels::ChainAction action, kernels::NumberType type, const std::vector<int>& from,
           float factor);
  int read_elsewhere(program::Index buffer, const Operand& operand, kernels::ChainRead how);
  int drop(const program::Dropout& f, const KernelCall& part);
  bool add_step(const KernelCall& part);

  ChainGroup& group_;
  kernels::Chain chain_;
  int registers_ = 0;  // that are taken
  bool has_pool_ = false;
  std::map<program::Index, int> places_;  // by buffer: the register with its values as they are now
  std::set<program::Index> draws_;        // where a dropout's draws began: no numbers
};

// What parts leave in memory.
struct Left {
  program::Index buffer;
  Operand operand;
};

// All of the parts, and what they leave. False: the builder refuses one.
template <typename Builder>
bool build(std::span<const KernelCall> parts, const std::vector<Left>& left, Builder& builder) {
  for (const KernelCall& part : parts)
    if (!builder.add(part)) return false;
  for (const auto& [buffer, operand] : left)
    if (!builder.leave(buffer, operand)) return false;
  return true;
}

inline std::vector<Left> left_by(const KernelCall& call) {
  std::vector<Left> left;
  for (std::size_t i = 0; i < call.writes.size(); ++i)
    left.push_back({call.operation->writes[i], call.writes[i]});
  return left;
}

template <typename Builder>
bool build(const KernelCall& call, Builder& builder) {
  return build(call.parts, left_by(call), builder);
}

}  // namespace trainscope::cuda
