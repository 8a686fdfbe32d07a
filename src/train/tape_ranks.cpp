// The tape: layers that are cut, as torch.distributed.tensor carries them out (parallel/style.py,
// placement_types.py, _redistribute.py).

#include "train/tape_recorder.h"

namespace trainscope::train {

using program::Index;
using program::kNoIndex;

// Each rank's columns give a part of the input's gradient. What needs none is not summed.
Tape::VarId Tape::gradient_summed(VarId input) {
  if (!vars_[input].needs_gradient) return input;
  ++vars_[input].uses;
  Var same;
  same.buffer = vars_[input].buffer;
  same.type = vars_[input].type;
  same.needs_gradient = true;
  Entry entry;
  entry.function = program::Cast{program_.buffers[same.buffer].elements()};
  entry.inputs = {input};
  entry.block = block_;
  entry.ranks = Entry::Ranks::kSumOfGradients;
  entry.output = add_var(same);
  entries_.push_back(entry);
  return entry.output;
}

// Every rank adds its part of the bias, which has it whole: its gradient is the whole one's.
Tape::VarId Tape::divided(VarId bias) {
  const program::Buffer like = program_.buffers[vars_[bias].buffer];
  const program::Multiply share{like.elements(), 1.0 / graph_.ranks};
  const VarId part = apply(share, {bias}, like.name + ", this rank's share", like.elements());
  program_.operations.back().framework = "aten::div";
  entries_.back().ranks = Entry::Ranks::kPart;
  vars_[part].leaf = vars_[bias].leaf;
  return part;
}

// A functional collective leaves its input alone: the sum is one of a copy
// (torch/csrc/distributed/c10d/Functional.cpp, all_reduce).
Tape::VarId Tape::summed(VarId part, const std::string& name) {
  const std::int64_t elements = program_.buffers[vars_[part].buffer].elements();
  const VarId sum = apply(program::Cast{elements}, {part}, name + ", summed", elements);
  list_->back().is_summed = true;
  entries_.back().ranks = Entry::Ranks::kSum;
  return sum;
}

void Tape::run_backward_of_ranks(const Entry& entry, Index dy) {
  const VarId input = entry.inputs[0];
  if (entry.ranks == Entry::Ranks::kPart && vars_[input].leaf != kNoIndex) return;  // it is there
  if (entry.ranks != Entry::Ranks::kSumOfGradients) return arrive(input, dy);
  const program::Buffer like = program_.buffers[dy];
  const Index sum =
      new_buffer(like.name + ", summed", like.elements(), like.type, program::Role::kActivation);
  emit(program::Cast{like.elements()}, like.type, {{dy}, {sum}});
  list_->back().is_summed = true;
  arrive(input, sum);
}

}  // namespace trainscope::train
