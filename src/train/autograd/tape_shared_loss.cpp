// The tape: a vocabulary that ranks share out, as torch.distributed.tensor carries out an
// embedding, a head and a loss of which each has some of the rows (tensor/parallel/loss.py,
// tensor/_ops/_embedding_ops.py; torchtitan shares them out so,
// models/llama3/infra/parallelize.py).
//
// A loss is the kernels that loss.py calls, in their order. Those that only say which targets are a
// rank's own are launches without operands: one of them computes it for all.

#include <string>

#include "train/autograd/tape_recorder.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::LossStep;
using program::Role;

namespace {

// _MaskPartial._mask_tensor: which tokens are another rank's, and the others as places in this
// one's rows.
const std::vector<const char*> kPartition{"lt", "ge", "bitwise_or", "clone", "sub", "masked_fill_"};

}  // namespace

void Tape::push_small(const std::vector<const char*>& operators, std::int64_t count,
                      ElementType type) {
  for (const char* name : operators) {
    program::Operation one =
        pointwise(name, std::string("aten::") + name, program::OperationKind::kElementwise, count,
                  1, 2.0 * static_cast<double>(count * program::size_of(type)));
    one.type = type;
    push(std::move(one));
  }
}

// ---- The embedding -----------------------------------------------------------------------------

void Tape::mask_tokens(Index tokens) {
  push_small(kPartition, program_.buffers[tokens].elements(), ElementType::kInt64);
}

// The vectors of another rank's tokens, before those of all ranks are added.
void Tape::mask_rows(Index vectors) {
  const program::Buffer& masked = program_.buffers[vectors];
  push_small({"masked_fill_"}, masked.elements(), masked.type);
  program_.operations.back().reads = {vectors};
}

// No strategy of embedding_dense_backward writes some of the rows alone: a gradient that all ranks
// have is computed of all of them, and each takes its own, a copy (_replicate_to_shard).
void Tape::run_backward_of_table(const Entry& entry, Index dy) {
  const VarId tokens = entry.inputs[0], table = entry.inputs[1];
  if (!vars_[table].needs_gradient) return;
  auto all = std::get<program::Embedding>(entry.function);
  all.vocabulary *= all.ranks;
  all.ranks = 1;
  all.part = program::Part::kWeightGradient;
  const program::Buffer like = program_.buffers[vars_[table].buffer];
  const Index whole = new_buffer("gradient of " + like.name + ", of all rows",
                                 all.vocabulary * all.width, like.type, Role::kGradient);
  emit(all, program_.buffers[dy].type, {{dy, vars_[tokens].buffer}, {whole}});
  program::CopyRuns own;
  own.run = like.elements();
  own.rank_step = 1;
  const Index gradient = gradient_for(table);
  emit(own, like.type, {{whole}, {gradient}});
  arrive(table, gradient);
}

// Each rank adds its tokens' rows of a table that all have: their gradients are gathered
// (PrepareModuleOutput of the table's module).
void Tape::run_backward_of_places(const Entry& entry, Index dy) {
  const VarId table = entry.inputs[1];
  arrive(entry.inputs[0], dy);
  if (!vars_[table].needs_gradient) return;
  auto all = std::get<program::AddPositions>(entry.function);
  (all.ranks > 1 ? all.length : all.batch) *= graph_.ranks;
  all.ranks = 1;
  all.part = program::Part::kWeightGradient;
  const Index whole = put_together(dy), gradient = gradient_for(table);
  emit(all, program_.buffers[whole].type, {{whole}, {gradient}});
  arrive(table, gradient);
}

// ---- The loss ----------------------------------------------------------------------------------

Index Tape::loss_step(LossStep step, const std::vector<Index>& reads, const std::string& name) {
  const bool by_row = step == LossStep::kMaximum || step == LossStep::kSum ||
                      step == LossStep::kLogarithm || step == LossStep::kPick;
  program::SharedLoss f{step, graph_.rows, graph_.own_classes, graph_.classes};
  f.ranks = graph_.ranks;
  const Index first = reads[0];
  const ElementType type = step == LossStep::kMark ? loss_type_ : program_.buffers[first].type;
  const Index result =
      new_buffer(name, by_row ? f.rows : f.rows * f.classes, type, Role::kActivation);
  emit(f, type, {reads, {result}});
  return result;
}

Index Tape::of_all(Sent how, Index own) {
  const program::Buffer like = program_.buffers[own];
  const Index all = new_buffer(like.name + ", of all ranks", like.elements(), like.type, like.role);
  send(how, own, all);
  return all;
}

void Tape::shared_loss(VarId logits) {
  loss_type_ = vars_[logits].type;
  Entry entry;
  entry.inputs = {logits};
  entry.ranks = Entry::Ranks::kLoss;
  entry.sides = {shared_log_softmax(vars_[logits].buffer)};
  Var loss;
  loss.buffer = shared_mean(entry.sides[0]);
  loss.type = loss_type_;
  loss.needs_gradient = vars_[logits].needs_gradient;
  ++vars_[logits].uses;
  entry.output = loss_ = add_var(loss);
  entries_.push_back(entry);
  plan_.loss_value = loss.buffer;
}

// _log_softmax of loss.py, in FP32.
Index Tape::shared_log_softmax(Index logits) {
  const Index x = in_type(logits, ElementType::kFp32, "logits in float32");
  const Index largest =
      of_all(Sent::kLargest, loss_step(LossStep::kMaximum, {x}, "largest logits"));
  const Index shifted = loss_step(LossStep::kShift, {x, largest}, "logits, shifted");
  const Index exponentials = loss_step(LossStep::kExponential, {shifted}, "exponentials");
  const Index sums =
      of_all(Sent::kSummed, loss_step(LossStep::kSum, {exponentials}, "sums of exponentials"));
  const Index logarithms = loss_step(LossStep::kLogarithm, {sums}, "logarithms of sums");
  const Index log_p = loss_step(LossStep::kShift, {shifted, logarithms}, "log-probabilities");
  hold({x});
  return in_type(log_p, loss_type_, "log-probabilities, narrow");
}

// Names of a Python function hold their tensors until it returns: up to the last operation.
void Tape::hold(const std::vector<Index>& buffers) {
  std::vector<Index>& reads = program_.operations.back().reads;
  reads.insert(reads.end(), buffers.begin(), buffers.end());
}

Index Tape::in_type(Index from, ElementType type, const std::string& name) {
  const program::Buffer like = program_.buffers[from];
  if (like.type == type) return from;
  const Index to = new_buffer(name, like.elements(), type, Role::kActivation);
  emit(program::Cast{like.elements()}, like.type, {{from}, {to}});
  return to;
}

// _nll_loss_forward: each row's number at its target comes from the rank that has it.
Index Tape::shared_mean(Index log_p) {
  constexpr ElementType kWhole = ElementType::kInt64;
  const std::int64_t rows = graph_.rows;
  const Index targets = vars_[targets_].buffer;
  push_small({"ne", "where"}, rows, kWhole);
  push_small(kPartition, rows, kWhole);
  const Index own = loss_step(LossStep::kPick, {log_p, targets}, "log-probabilities of targets");
  push_small({"masked_fill_"}, rows, loss_type_);
  const Index picked = of_all(Sent::kSummed, own);
  push_small({"neg"}, rows, loss_type_);
  push_small({"ne"}, rows, kWhole);
  push_small({"where"}, rows, loss_type_);
  push_small({"ne", "sum"}, rows, kWhole);
  push_small({"to"}, 1, kWhole);
  const Index loss = new_buffer("loss", 1, loss_type_, Role::kActivation);
  program::Operation& mean = program_.operations[emit(
      program::Multiply{rows, -1.0 / static_cast<double>(rows)}, loss_type_, {{picked}, {loss}})];
  mean.kernel = "sum";
  mean.framework = "aten::sum";
  push_small({"div"}, 1, loss_type_);
  return loss;
}

// _nll_loss_and_log_softmax_backward: of this rank's logits, which needs no other's.
void Tape::run_backward_of_loss(const Entry& entry, Index dloss) {
  constexpr ElementType kWhole = ElementType::kInt64;
  const std::int64_t rows = graph_.rows, count = rows * graph_.own_classes;
  const VarId logits = entry.inputs[0];
  push_small({"div"}, 1, loss_type_);
  push_small({"ne", "where"}, rows, kWhole);
  push_zeros(count, loss_type_);
  push_small(kPartition, rows, kWhole);
  push_small({"to", "sub"}, rows, loss_type_);
  push_small({"arange"}, rows, kWhole);
  const Index marks = loss_step(LossStep::kMark, {vars_[targets_].buffer}, "less 1 at targets");
  push_small({"ne", "where"}, rows, kWhole);
  const Index p = loss_step(LossStep::kExponential, {entry.sides[0]}, "probabilities");
  const Index both =
      new_buffer("probabilities, less 1 at targets", count, loss_type_, Role::kActivation);
  emit(program::Add{count}, loss_type_, {{marks, p}, {both}});
  const Index gradient = gradient_for(logits);
  const Index last = emit(program::Multiply{count, 1.0 / static_cast<double>(rows)}, loss_type_,
                          {{both, dloss}, {gradient}});
  program_.operations[last].framework = "aten::mul";
  hold({marks, entry.sides[0]});
  arrive(logits, gradient);
}

// What index_put_ writes into is counted with it.
void Tape::push_zeros(std::int64_t count, ElementType type) {
  program::Operation zeros =
      pointwise("fill", "aten::zeros_like", program::OperationKind::kElementwise, count, 0,
                static_cast<double>(count * program::size_of(type)));
  zeros.type = type;
  push(std::move(zeros));
}

}  // namespace trainscope::train
