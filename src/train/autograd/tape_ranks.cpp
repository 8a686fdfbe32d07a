// The tape: layers that are cut, and parts of sequences, as torch.distributed.tensor carries them
// out (parallel/style.py, placement_types.py, _redistribute.py).

#include "train/autograd/tape_recorder.h"

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
  mark_sent(Sent::kSummed);
  entries_.back().ranks = Entry::Ranks::kSum;
  return sum;
}

// All that read a part with weights that are cut share what is gathered, and the sum of its
// gradients is scattered once (PrepareModuleInput before three projections). Others have all of
// their weights, and with it the whole gradient.
Tape::VarId Tape::gathered(VarId part, bool is_cut) {
  const auto known = gathered_.find({part, is_cut});
  if (known != gathered_.end()) return known->second;
  const auto ranks = is_cut ? Entry::Ranks::kGather : Entry::Ranks::kGatherSame;
  const VarId whole = moved(part, ranks, [this](Index from) { return put_together(from); });
  gathered_[{part, is_cut}] = whole;
  return whole;
}

Tape::VarId Tape::scattered(VarId part_of_sum) {
  return moved(part_of_sum, Entry::Ranks::kScatter, [this](Index from) { return scatter(from); });
}

Tape::VarId Tape::own_part(VarId whole) {
  return moved(whole, Entry::Ranks::kOwnPart, [this](Index from) { return take_part(from); });
}

Tape::VarId Tape::moved(VarId from, Entry::Ranks ranks, const std::function<Index(Index)>& move) {
  auto first = static_cast<Index>(program_.operations.size());
  Var to;
  to.buffer = move(vars_[from].buffer);
  to.type = vars_[from].type;
  to.needs_gradient = vars_[from].needs_gradient;
  ++vars_[from].uses;
  Entry entry;
  entry.inputs = {from};
  entry.block = block_;
  entry.recomputed = recomputes_;
  entry.ranks = ranks;
  for (; first < program_.operations.size(); ++first) entry.operations.push_back(first);
  entry.output = add_var(to);
  entries_.push_back(std::move(entry));
  return entries_.back().output;
}

// ---- A sequence's parts ------------------------------------------------------------------------
//
// A tensor lies [samples, tokens, width], so that a rank's part of the tokens is a run of each
// sample. Collectives want one rank's behind another's: torch.cat of chunks makes that of it
// (torch/distributed/_functional_collectives.py, reduce_scatter_tensor, all_gather_tensor).

std::int64_t Tape::run_of(std::int64_t whole) const {
  return whole / graph_.ranks / graph_.batch;
}

// Of one sample the parts lie as they should, and a view is enough (_maybe_view_chunk_cat).
Index Tape::put_together(Index part) {
  const program::Buffer like = program_.buffers[part];
  const std::int64_t elements = like.elements() * graph_.ranks;
  const Index all =
      new_buffer(like.name + ", of all ranks", elements, like.type, program::Role::kActivation);
  send(Sent::kGathered, part, all);
  if (graph_.batch == 1) return all;
  const Index whole =
      new_buffer(like.name + ", whole", elements, like.type, program::Role::kActivation);
  program::CopyRuns runs;
  runs.run = run_of(elements);
  runs.outer = graph_.batch;
  runs.inner = graph_.ranks;
  runs.outer_step = 1;
  runs.inner_step = graph_.batch;
  emit(runs, like.type, {{all}, {whole}});
  return whole;
}

Index Tape::scatter(Index whole) {
  const program::Buffer like = program_.buffers[whole];
  const Index apart = new_buffer(like.name + ", rank after rank", like.elements(), like.type,
                                 program::Role::kActivation);
  program::CopyRuns runs;
  runs.run = run_of(like.elements());
  runs.outer = graph_.ranks;
  runs.inner = graph_.batch;
  runs.outer_step = 1;
  runs.inner_step = graph_.ranks;
  emit(runs, like.type, {{whole}, {apart}});
  const Index part =
      new_buffer(like.name + ", summed: this rank's part", like.elements() / graph_.ranks,
                 like.type, program::Role::kActivation);
  send(Sent::kScattered, apart, part);
  return part;
}

Index Tape::take_part(Index whole) {
  const program::Buffer like = program_.buffers[whole];
  const Index part = new_buffer(like.name + ": this rank's part", like.elements() / graph_.ranks,
                                like.type, program::Role::kActivation);
  program::CopyRuns runs;
  runs.run = run_of(like.elements());
  runs.outer = graph_.batch;
  runs.outer_step = graph_.ranks;
  runs.rank_step = 1;
  emit(runs, like.type, {{whole}, {part}});
  return part;
}

void Tape::send(Sent how, Index from, Index to) {
  push(make_operation(program_, {}, program_.buffers[from].type, {{from}, {to}}));
  mark_sent(how);
}

void Tape::mark_sent(Sent how) {
  list_->back().sent = how;
  sent_[list_->back().operation] = how;
}

// ---- Backward ----------------------------------------------------------------------------------

void Tape::run_backward_of_ranks(const Entry& entry, Index dy) {
  const VarId input = entry.inputs[0];
  switch (entry.ranks) {
    case Entry::Ranks::kPart:
      if (vars_[input].leaf != kNoIndex) return;  // it is there
      return arrive(input, dy);
    case Entry::Ranks::kSumOfGradients:
      return arrive(input, sum_of(dy, input));
    case Entry::Ranks::kGather:
      return arrive(input, scatter(dy));
    case Entry::Ranks::kGatherSame:
      return arrive(input, take_part(dy));
    case Entry::Ranks::kScatter:
    case Entry::Ranks::kOwnPart:
      return arrive(input, put_together(dy));
    case Entry::Ranks::kTable:
      return run_backward_of_table(entry, dy);
    case Entry::Ranks::kPlaces:
      return run_backward_of_places(entry, dy);
    case Entry::Ranks::kLoss:
      return run_backward_of_loss(entry, dy);
    case Entry::Ranks::kSum:
    case Entry::Ranks::kNone:
      return arrive(input, dy);
  }
}

// A parameter's is its gradient.
Index Tape::sum_of(Index part, VarId input) {
  const program::Buffer like = program_.buffers[part];
  const bool is_leaf = vars_[input].leaf != kNoIndex;
  const Index sum = is_leaf ? gradient_for(input)
                            : new_buffer(like.name + ", summed", like.elements(), like.type,
                                         program::Role::kActivation);
  emit(program::Cast{like.elements()}, like.type, {{part}, {sum}});
  mark_sent(Sent::kSummed);
  return sum;
}

}  // namespace trainscope::train
