#include "train/parallel/pipeline_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "train/model/models.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::MemoryKind;

// Each micro-batch has operations and buffers of its own.
void check_micro_batches(const Graph& graph, std::int64_t count) {
  constexpr std::int64_t kMost = 50'000;  // layers of all of them, some 250 MB
  const std::int64_t most = kMost / static_cast<std::int64_t>(graph.layers.size());
  if (count > most)
    throw InputError(
        fmt::format("pipeline.microbatches = {} of a model of {} layers is more than "
                    "is simulated; write at most {}",
                    count, graph.layers.size(), most));
}

// A plan of each stage's forward, in a program that is thrown away.
std::vector<ElementType> read_types(const std::vector<Stage>& stages,
                                    const TrainSettings& settings) {
  const ElementType own = settings.precision.model;
  std::vector<ElementType> types{stages.front().graph.reads_tokens ? ElementType::kInt64 : own};
  for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
    const Graph& graph = stages[stage].graph;
    program::Program program;
    const ModelBuffers model = add_model_buffers(program, graph, own, MemoryKind::kDevice);
    PlanBuffers buffers(MemoryKind::kDevice);
    const Index input = add_numbers(program, "input", graph.values[0], types.back(),
                                    MemoryKind::kDevice, program::Role::kActivation);
    const Plan plan = plan_stage(program, graph, model, buffers, {input, input},
                                 stage_options(settings), {stage == 0, false});
    types.push_back(program.buffers[plan.output].type);
  }
  return types;
}

std::vector<Stage> stages_of(const program::Config& config, const TrainSettings& settings) {
  const Graph graph = build_model(config, settings.data, settings.batch / settings.micro_batches);
  check_micro_batches(graph, settings.micro_batches);
  return cut_into_stages(graph, settings.pipeline_ranks, settings.stages_per_rank,
                         settings.ranks > 1 ? "pipeline.degree" : "parallel.world_size");
}

}  // namespace

std::vector<int> blocks_of_ranks(const program::Config& config, const TrainSettings& settings) {
  const std::vector<Stage> stages = stages_of(config, settings);
  const auto ranks = static_cast<std::size_t>(settings.pipeline_ranks);
  std::vector<int> blocks(ranks, 0);
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].first_block > 0)
      blocks[i % ranks] += stages[i].last_block - stages[i].first_block + 1;
  return blocks;
}

PipelineModel cut_for_pipeline(const program::Config& config, const TrainSettings& settings) {
  const InterleavedShape shape{settings.pipeline_ranks, settings.stages_per_rank,
                               settings.micro_batches};
  PipelineModel model;
  model.stages = stages_of(config, settings);
  model.read_types = read_types(model.stages, settings);
  if (settings.interleaved) model.schedule = interleaved_schedule(shape);
  return model;
}

TapeOptions stage_options(const TrainSettings& settings) {
  TapeOptions options;
  options.precision = settings.precision;
  options.checkpoint_every = settings.checkpoint_every;
  return options;
}

std::vector<ModelBuffers> add_stage_buffers(program::Program& program, const PipelineModel& model,
                                            const Graph& whole, const TrainSettings& settings,
                                            int rank) {
  std::vector<ModelBuffers> all;
  std::int64_t here = 0;  // parameters whose values are drawn, in the stages before
  const auto apart = static_cast<std::size_t>(settings.pipeline_ranks);
  for (auto i = static_cast<std::size_t>(rank); i < model.stages.size(); i += apart) {
    const Graph& graph = model.stages[i].graph;
    const std::vector<ParameterId>& parameters = model.stages[i].parameters;
    all.push_back(add_model_buffers(program, graph, settings.precision.model, MemoryKind::kDevice));
    for (std::size_t own = 0; own < parameters.size(); ++own)
      program.buffers[all.back().parameters[own]].initial.before =
          drawn_before(whole, parameters[own]) -
          drawn_before(graph, static_cast<ParameterId>(own)) - here;
    here += drawn_before(graph, static_cast<ParameterId>(parameters.size()));
  }
  return all;
}

ModelBuffers joined(const std::vector<ModelBuffers>& stages) {
  ModelBuffers all;
  for (const ModelBuffers& stage : stages) {
    all.parameters.insert(all.parameters.end(), stage.parameters.begin(), stage.parameters.end());
    all.gradients.insert(all.gradients.end(), stage.gradients.begin(), stage.gradients.end());
  }
  return all;
}

ListedStages listed(const PipelineModel& model) {
  const std::vector<TiedParameter> tied = tied_parameters(model.stages);
  std::string name;
  if (!tied.empty()) name = model.stages.front().graph.parameters[tied.front().in_first].name;
  return {blocks_before(model.stages), name};
}

}  // namespace trainscope::train
