// The tape: an attention's launches, where it has no kernel of its own, a GELU's that is written
// out, and what they write.

#include <utility>

#include "train/autograd/tape_recorder.h"
#include "train/kernels/math_attention.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

Index Tape::push_attention(const program::Operation& whole) {
  Index last = kNoIndex;
  for (AttentionLaunch& launch : launches_of(whole))
    last = push(std::move(launch.operation), launch.same_operator);
  return last;
}

std::vector<AttentionLaunch> Tape::launches_of(const program::Operation& whole) {
  const auto& attention = std::get<program::Attention>(whole.function);
  const bool forward = attention.part == program::Part::kForward;
  const Index probabilities = forward ? whole.writes[1] : whole.reads[attention.packed ? 2 : 4];
  const auto make = [this](const std::string& name, std::int64_t elements, ElementType type) {
    return new_buffer(name, elements, type, Role::kActivation);
  };
  if (attention.eager)
    return eager_attention(program_, whole, {autocasts(), options_.compile.fuse}, make,
                           eager_kept_[probabilities]);
  const program::Buffer like = program_.buffers[probabilities];
  const Index scores =
      make(like.name + (forward ? ", before softmax" : ", gradient"), like.elements(), like.type);
  return math_attention(program_, whole, scores, options_.compile.fuse);
}

Index Tape::push_written_gelu(const program::Operation& whole) {
  const bool forward =
      std::get<program::Activation>(whole.function).part == program::Part::kForward;
  const auto make = [this](const std::string& name, std::int64_t elements, ElementType type) {
    return new_buffer(name, elements, type, Role::kActivation);
  };
  Index last = kNoIndex;
  for (GeluLaunch& launch :
       written_gelu(program_, whole, make, gelu_kept_[whole.reads[forward ? 0 : 1]]))
    last = push(std::move(launch.operation), launch.same_operator);
  return last;
}

}  // namespace trainscope::train
