#include "train/model/model_flops.h"

#include "train/model/models.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::MemoryKind;
using program::Part;

// Scores and values: two products of length x length x width a head, and two for the gradient of
// each. The flash kernel's backward has a fifth: it computes the scores again.
double flops_of(const program::Attention& f) {
  const auto square = static_cast<double>(f.length) * static_cast<double>(f.length);
  const double products = f.part == Part::kForward ? 2 : 4;
  return products * 2 * square * static_cast<double>(f.width * f.heads * f.batch);
}

double flops_of(const program::Operation& operation) {
  if (const auto* attention = std::get_if<program::Attention>(&operation.function))
    return flops_of(*attention);
  const auto* linear = std::get_if<program::Linear>(&operation.function);
  const auto* convolution = std::get_if<program::Convolution>(&operation.function);
  if (!linear && !convolution) return 0;
  const Part part = linear ? linear->part : convolution->part;
  return part == Part::kBiasGradient ? 0 : operation.flops;
}

}  // namespace

LonePlan plan_alone(const Graph& graph) {
  LonePlan alone;
  const auto add = [&](std::int64_t elements, ElementType type) {
    return add_numbers(alone.program, "batch", elements, type, MemoryKind::kDevice,
                       program::Role::kBatch);
  };
  const ModelBuffers model =
      add_model_buffers(alone.program, graph, ElementType::kFp32, MemoryKind::kDevice);
  PlanBuffers buffers(MemoryKind::kDevice);
  const auto read = graph.reads_tokens ? ElementType::kInt64 : ElementType::kFp32;
  const BatchBuffers batch{add(graph.values[0], read), add(graph.rows, ElementType::kInt64)};
  alone.plan = plan_training(alone.program, graph, model, buffers, batch, {});
  return alone;
}

double model_flops(const Graph& graph) {
  const LonePlan alone = plan_alone(graph);
  double flops = 0;
  for (const auto* list : {&alone.plan.forward, &alone.plan.backward})
    for (const PlannedLaunch& launch : *list)
      flops += flops_of(alone.program.operations[launch.operation]);
  return flops;
}

double counted_flops(const program::Operation& operation) {
  const auto* attention = std::get_if<program::Attention>(&operation.function);
  return operation.flops * (attention && attention->flash && attention->causal ? 2 : 1);
}

std::vector<double> model_flops_of_samples(const program::Config& config,
                                           const TrainSettings& settings) {
  std::vector<double> flops;
  for (const std::int64_t side : settings.sides()) {
    TrainingData data = settings.data;
    if (settings.image_sizes > 1) data.shape.height = data.shape.width = side;
    flops.push_back(model_flops(build_model(config, data, 1)));
  }
  return flops;
}

}  // namespace trainscope::train
