#include "train/autograd/tape.h"

#include "train/autograd/tape_recorder.h"
#include "train/writer.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

std::size_t end_of_piece(const std::vector<PlannedLaunch>& launches, std::size_t launch) {
  const int piece = launches[launch].piece;
  while (launch < launches.size() && launches[launch].piece == piece) ++launch;
  return launch;
}

Index PlanBuffers::get(program::Program& program, const program::Buffer& like) {
  const Key key{like.name, like.bytes, like.type, given_[like.name]++};
  const auto [entry, is_new] = made_.try_emplace(key, static_cast<Index>(program.buffers.size()));
  if (is_new) {
    program.buffers.push_back(like);
    program.buffers.back().kind = memory_;
    program.buffers.back().device = device_;
  }
  return entry->second;
}

ModelBuffers add_model_buffers(program::Program& program, const Graph& graph, ElementType type,
                               program::MemoryKind memory) {
  ModelBuffers model;
  const auto add = [&](const Parameter& parameter, const std::string& name, Role role) {
    return add_numbers(program, name, parameter.elements, type, memory, role);
  };
  for (const Parameter& parameter : graph.parameters) {
    model.parameters.push_back(add(parameter, parameter.name, Role::kParameter));
    program.buffers[model.parameters.back()].initial = parameter.initial;
    model.gradients.push_back(parameter.trained && parameter.reached
                                  ? add(parameter, parameter.name + ".grad", Role::kGradient)
                                  : kNoIndex);
    model.sums.push_back(parameter.by_tokens && !graph.sums_in_backward
                             ? add(parameter, parameter.name + ".grad, summed", Role::kGradient)
                             : kNoIndex);
  }
  return model;
}

Plan plan_training(program::Program& program, const Graph& graph, const ModelBuffers& model,
                   PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options) {
  Tape tape(program, graph, model, buffers, batch, options);
  tape.forward(true, true);
  tape.loss();
  tape.scale_loss();
  tape.backward();
  return tape.finish();
}

Plan plan_replica(program::Program& program, const Graph& graph, const ModelBuffers& model,
                  PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                  bool computes_loss) {
  Tape tape(program, graph, model, buffers, batch, options);
  tape.forward(true, true);
  if (computes_loss) {
    tape.loss();
    tape.backward_of_loss();
  } else {
    tape.backward_of_output();
  }
  return tape.finish();
}

Plan plan_stage(program::Program& program, const Graph& graph, const ModelBuffers& model,
                PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                StageEnds ends) {
  Tape tape(program, graph, model, buffers, batch, options);
  if (!ends.is_first) tape.expect_gradient();
  tape.forward(true, true);
  if (ends.is_last) {
    tape.loss();
    tape.backward();
  } else {
    tape.backward_of_output();
  }
  tape.keep_what_is_sent();
  return tape.finish();
}

Plan plan_loss(program::Program& program, const Graph& graph, Index logits, Index y,
               PlanBuffers& buffers, const TapeOptions& options) {
  Graph head;
  head.values = {graph.rows * graph.classes};
  head.rows = graph.rows;
  head.classes = graph.classes;
  Tape tape(program, head, {}, buffers, {logits, y}, options);
  tape.expect_gradient();
  tape.loss();
  tape.scale_loss();
  tape.backward_to_input();
  return tape.finish();
}

Plan plan_mean_loss(program::Program& program, Index losses, PlanBuffers& buffers,
                    const TapeOptions& options) {
  Graph head;
  head.values = {program.buffers[losses].elements()};
  Tape tape(program, head, {}, buffers, {losses, losses}, options);
  tape.expect_gradient();
  tape.mean_loss();
  tape.scale_loss();
  tape.backward_to_input();
  return tape.finish();
}

Plan plan_evaluation(program::Program& program, const Graph& graph, const ModelBuffers& model,
                     PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                     Index correct) {
  TapeOptions forward;
  forward.precision = options.precision;
  forward.compile.fuse = options.compile.fuse;
  if (forward.compile.fuse) forward.pieces = options.pieces;
  Tape tape(program, graph, model, buffers, batch, forward);
  tape.forward(false, false);
  tape.count_correct(correct);
  return tape.finish();
}

}  // namespace trainscope::train
