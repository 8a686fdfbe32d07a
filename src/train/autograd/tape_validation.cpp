// The tape of a validation: what it launches, and what its graph holds.

#include <set>
#include <utility>

#include "train/autograd/tape_recorder.h"

namespace trainscope::train {

using program::Index;

namespace {

// What a backward would read, of the model and of the loss.
struct Read {
  std::set<Index> of_model;
  std::set<Index> of_loss;
};

Read read_by(const program::Program& program, const std::vector<PlannedLaunch>& backward) {
  Read read;
  for (const PlannedLaunch& launch : backward) {
    const bool of_loss = launch.block == PlannedLaunch::kNotTheModel;
    for (const Index buffer : program.operations[launch.operation].reads)
      (of_loss ? read.of_loss : read.of_model).insert(buffer);
  }
  return read;
}

// Those of a plan's buffers that are there once all has been launched.
std::set<Index> left_by(const Plan& plan) {
  std::set<Index> left;
  for (const auto* list : {&plan.forward, &plan.loss})
    for (const PlannedLaunch& launch : *list) {
      left.insert(launch.allocated.begin(), launch.allocated.end());
      for (const Index buffer : launch.freed) left.erase(buffer);
    }
  return left;
}

// Writes a backward that is never carried out, of a program that is thrown away: buffers have the
// same numbers there.
void find_graph(ValidationPlan& found, const program::Program& program, const Graph& graph,
                const ModelBuffers& model, PlanBuffers buffers, const BatchBuffers& batch,
                const TapeOptions& options) {
  program::Program aside;
  aside.buffers = program.buffers;
  aside.operations = program.operations;
  Tape tape(aside, graph, model, buffers, batch, options);
  tape.forward(false, true);
  tape.loss();
  tape.backward();
  const Plan plan = tape.finish();
  const Read read = read_by(aside, plan.backward);
  std::set<Index> left = left_by(plan);
  left.insert({batch.x, batch.y});
  for (const Index buffer : left) {
    if (read.of_model.contains(buffer))
      found.graph_of_output.push_back(buffer);
    else if (read.of_loss.contains(buffer))
      found.graph_of_loss.push_back(buffer);
  }
}

// Takes them out of what the plan frees. What is written again was free in between, as ever.
void hold(Plan& plan, std::set<Index> buffers) {
  for (auto* list : {&plan.loss, &plan.forward})
    for (auto launch = list->rbegin(); launch != list->rend(); ++launch)
      std::erase_if(launch->freed, [&](Index buffer) { return buffers.erase(buffer) > 0; });
}

}  // namespace

ValidationPlan plan_validation(program::Program& program, const Graph& graph,
                               const ModelBuffers& model, PlanBuffers& buffers,
                               const BatchBuffers& batch, const TapeOptions& options,
                               bool records) {
  TapeOptions forward;
  forward.precision = options.precision;
  forward.checkpoint_every = options.checkpoint_every;
  ValidationPlan validation;
  if (records) find_graph(validation, program, graph, model, buffers, batch, forward);
  Tape tape(program, graph, model, buffers, batch, forward);
  tape.keep_weight_copies();
  tape.forward(false, records);
  tape.loss();
  validation.plan = tape.finish_validation();
  std::set<Index> held{validation.plan.output, validation.plan.loss_value};
  held.insert(validation.graph_of_output.begin(), validation.graph_of_output.end());
  held.insert(validation.graph_of_loss.begin(), validation.graph_of_loss.end());
  hold(validation.plan, std::move(held));
  return validation;
}

}  // namespace trainscope::train
