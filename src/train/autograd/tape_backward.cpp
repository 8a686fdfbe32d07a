// The tape: backward, entry after entry from the last.

#include <algorithm>
#include <utility>

#include "train/autograd/tape_recorder.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

void Tape::backward() {
  list_ = &plan_.backward;
  in_backward_ = true;
  Var& root = vars_[loss_];
  root.gradient = new_buffer("gradient of the loss", 1, root.type, Role::kActivation);
  emit(program::Fill{1, 1}, root.type, {{}, {root.gradient}});
  run_all_backward();
}

void Tape::backward_of_output() {
  list_ = &plan_.backward;
  in_backward_ = true;
  Var& logits = vars_[graph_.logits];
  const std::int64_t elements = program_.buffers[logits.buffer].elements();
  logits.gradient = new_buffer("gradient of the output", elements, logits.type, Role::kActivation);
  plan_.output = logits.buffer;
  plan_.output_gradient = logits.gradient;
  run_all_backward();
  outlives_ = {plan_.output};
}

void Tape::backward_of_loss() {
  list_ = &plan_.backward;
  in_backward_ = true;
  Var& root = vars_[loss_];
  root.gradient = new_buffer("gradient of the loss", 1, root.type, Role::kActivation);
  plan_.output = vars_[graph_.logits].buffer;
  plan_.output_gradient = root.gradient;
  run_all_backward();
  outlives_ = {plan_.output, plan_.loss_value};
}

void Tape::backward_to_input() {
  backward();
  plan_.output = vars_[0].buffer;
  plan_.output_gradient = vars_[0].gradient;
  outlives_ = {plan_.output_gradient};
}

void Tape::keep_what_is_sent() {
  plan_.input_gradient = vars_[0].gradient;
  outlives_ = {plan_.output, plan_.output_gradient, plan_.input_gradient};
  for (ParameterId id = 0; id < parameters_.size(); ++id) {
    const auto copy = weight_casts_.find(parameters_[id]);
    if (copy == weight_casts_.end() || options_.weight_casts.contains(id)) continue;
    plan_.weight_casts[id] = vars_[copy->second].buffer;
    outlives_.insert(vars_[copy->second].buffer);
  }
}

void Tape::run_all_backward() {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (i + 1 == model_entries_) begin_model_backward();
    block_ = entries_[i].block;
    begin_piece(entries_[i].piece);
    if (entries_[i].recomputed && block_ != recomputed_) recompute(block_);
    run_backward(i);
  }
  begin_piece(PlannedLaunch::kNotCompiled);
}

void Tape::begin_piece(int piece) {
  if (piece == piece_) return;
  piece_ = piece;
  list_->insert(list_->end(), outside_.begin(), outside_.end());
  outside_.clear();
}

void Tape::begin_model_backward() {
  Index& gradient = vars_[graph_.logits].gradient;
  if (options_.compile.cuda_graph && gradient != kNoIndex)
    gradient = static_copy(gradient, "gradient of the output");
}

void Tape::recompute(int block) {
  recomputed_ = block;
  const std::set<Index> read = read_by_backward(block);
  const auto is_read = [&](const Entry& entry) {
    return entry.block == block && (read.contains(vars_[entry.output].buffer) ||
                                    std::any_of(entry.sides.begin(), entry.sides.end(),
                                                [&](Index side) { return read.contains(side); }));
  };
  const auto end = std::find_if(entries_.rbegin(), entries_.rend(), is_read).base();
  for (auto entry = entries_.begin(); entry != end; ++entry) {
    if (entry->block != block) continue;
    for (const Index operation : entry->operations) {
      list_->push_back({again(operation), {}, {}, false, block, piece_});
      const auto sent = sent_.find(operation);
      if (sent != sent_.end()) list_->back().sent = sent->second;
    }
  }
}

std::set<Index> Tape::read_by_backward(int block) const {
  std::set<Index> read;
  for (const Entry& entry : entries_) {
    if (entry.block != block) continue;
    for (const GradientRule& rule : gradient_rules(entry.function))
      for (const Source& source : rule.reads)
        if (source.kind != Source::Kind::kGradient) read.insert(buffer_of(entry, source, kNoIndex));
  }
  return read;
}

Index Tape::again(Index operation) {
  const auto* dropout = std::get_if<program::Dropout>(&program_.operations[operation].function);
  if (!dropout) return operation;
  program::Operation copy = program_.operations[operation];
  std::get<program::Dropout>(copy.function).again = true;
  copy.reads.push_back(copy.writes[1]);
  copy.writes.erase(copy.writes.begin() + 1);
  program_.operations.push_back(std::move(copy));
  return static_cast<Index>(program_.operations.size() - 1);
}

void Tape::run_backward(std::size_t i) {
  const Entry& entry = entries_[i];
  const Index dy = vars_[entry.output].gradient;
  if (dy == kNoIndex) return;
  if (entry.ranks != Entry::Ranks::kNone) return run_backward_of_ranks(entry, dy);
  for (const std::size_t place : passed_through(entry.function))
    if (vars_[entry.inputs[place]].needs_gradient)
      arrive(entry.inputs[place], in_type_of(entry.inputs[place], dy));
  for (const GradientRule& rule : gradient_rules(entry.function)) apply_rule(entry, rule, dy);
}

Index Tape::in_type_of(VarId id, Index gradient) {
  const program::Buffer like = program_.buffers[gradient];
  if (like.type == vars_[id].type) return gradient;
  const Index narrow = gradient_for(id);
  emit(program::Cast{like.elements()}, like.type, {{gradient}, {narrow}});
  return narrow;
}

void Tape::apply_rule(const Entry& entry, const GradientRule& rule, Index dy) {
  const bool wanted = std::any_of(rule.wanted.begin(), rule.wanted.end(), [&](std::size_t place) {
    return vars_[entry.inputs[place]].needs_gradient;
  });
  if (!wanted) return;
  Operands operands;
  for (const Source& source : rule.reads)
    if (const Index buffer = buffer_of(entry, source, dy); buffer != kNoIndex)
      operands.reads.push_back(kept_or_again(entry, source, buffer));
  for (const std::size_t place : rule.wanted)
    operands.writes.push_back(written_gradient(rule.function, entry.inputs[place], dy));
  const std::vector<Index> written = operands.writes;
  emit(rule.function, operation_type(rule.function, program_.buffers[dy].type),
       std::move(operands));
  for (std::size_t k = 0; k < rule.wanted.size(); ++k) {
    const VarId input = entry.inputs[rule.wanted[k]];
    arrive(input, in_type_of(input, written[k]));
  }
}

Index Tape::kept_or_again(const Entry& entry, const Source& source, Index buffer) {
  const bool is_compiled = options_.compile.fuse && entry.piece != PlannedLaunch::kNotCompiled;
  if (!is_compiled || source.kind != Source::Kind::kInput) return buffer;
  if (const auto known = again_.find(buffer); known != again_.end()) return known->second;
  const auto maker = std::ranges::find(entries_, entry.inputs[source.place], &Entry::output);
  if (maker == entries_.end() || maker->piece != entry.piece) return buffer;
  const auto* activation = std::get_if<program::Activation>(&maker->function);
  if (!activation || activation->kind != program::ActivationKind::kSilu) return buffer;
  const program::Buffer like = program_.buffers[buffer];
  const Index again =
      new_buffer(like.name + ", computed again", like.elements(), like.type, Role::kActivation);
  emit(*activation, like.type, {{vars_[maker->inputs[0]].buffer}, {again}});
  return again_[buffer] = again;
}

Index Tape::written_gradient(const program::Function& function, VarId id, Index dy) {
  const program::Buffer like = program_.buffers[dy];
  if (!std::holds_alternative<program::Multiply>(function) || like.type == vars_[id].type)
    return gradient_for(id);
  const std::string& name = program_.buffers[vars_[id].buffer].name;
  return new_buffer("gradient of " + name + " in float32", like.elements(), like.type,
                    Role::kActivation);
}

Index Tape::buffer_of(const Entry& entry, const Source& source, Index dy) const {
  switch (source.kind) {
    case Source::Kind::kGradient:
      return dy;
    case Source::Kind::kInput:
      return source.place < entry.inputs.size() ? vars_[entry.inputs[source.place]].buffer
                                                : kNoIndex;
    case Source::Kind::kOutput:
      return vars_[entry.output].buffer;
    case Source::Kind::kSide:
      return entry.sides[source.place];
  }
  return kNoIndex;
}

Index Tape::gradient_for(VarId id) {
  const Var& var = vars_[id];
  if (var.leaf != kNoIndex && var.uses == 1 && !options_.accumulate) return var.leaf;
  const program::Buffer& like = program_.buffers[var.buffer];
  const Role role = is_parameter_gradient(id) ? Role::kGradient : Role::kActivation;
  return new_buffer("gradient of " + like.name, like.elements(), var.type, role);
}

bool Tape::is_parameter_gradient(VarId id) const {
  return vars_[id].leaf != kNoIndex || weight_copies_.contains(id);
}

void Tape::arrive(VarId id, Index gradient) {
  Var& var = vars_[id];
  ++var.arrived;
  const bool last = var.arrived == var.uses;
  bool outside = false;
  if (var.gradient != kNoIndex) {
    const bool to_leaf = last && var.leaf != kNoIndex && !options_.accumulate;
    const Index sum = to_leaf ? var.leaf : gradient_for(id);
    const std::int64_t elements = program_.buffers[gradient].elements();
    const Operands operands{{var.gradient, gradient}, {sum}};
    outside = meet_outside(var);
    outside ? emit_outside(program::Add{elements}, var.type, operands)
            : void(emit(program::Add{elements}, var.type, operands));
    gradient = sum;
  }
  vars_[id].gradient = gradient;
  vars_[id].gradient_piece = outside ? PlannedLaunch::kNotCompiled : piece_;
  const Index leaf = vars_[id].leaf;
  if (leaf == kNoIndex || !last || !options_.accumulate) return;
  emit_outside(program::Accumulate{program_.buffers[leaf].elements()}, program_.buffers[leaf].type,
               {{gradient}, {leaf}});
}

bool Tape::meet_outside(const Var& var) const {
  return piece_ != PlannedLaunch::kNotCompiled && var.piece != piece_ &&
         var.gradient_piece != piece_;
}

void Tape::emit_outside(const program::Function& function, ElementType type, Operands operands) {
  if (piece_ == PlannedLaunch::kNotCompiled) {
    emit(function, type, std::move(operands));
    return;
  }
  std::vector<PlannedLaunch>* const list = std::exchange(list_, &outside_);
  const int piece = std::exchange(piece_, PlannedLaunch::kNotCompiled);
  emit(function, type, std::move(operands));
  piece_ = piece;
  list_ = list;
}

}  // namespace trainscope::train
