#include "train/train_description.h"

#include <cstddef>
#include <vector>

#include "program/reading_order.h"
#include "train/model/model_flops.h"
#include "train/settings/loss_target.h"

namespace trainscope::train {
namespace {

using program::Index;

// Of all batches behind the warm-up, on average a step.
template <typename Value>
double mean_of_step(const TrainParts& parts, const Value& of_batch) {
  const TrainSettings& settings = parts.settings;
  const std::int64_t first = parts.program.warmup_steps * settings.accumulate;
  double sum = 0;
  for (std::int64_t batch = first; batch < settings.batches(); ++batch) sum += of_batch(batch);
  return sum / static_cast<double>(settings.steps - parts.program.warmup_steps);
}

double samples_of_step(const TrainParts& parts) {
  return static_cast<double>(parts.settings.ranks) * mean_of_step(parts, [&](std::int64_t batch) {
           return static_cast<double>(parts.settings.samples_of(batch));
         });
}

// Of one process; of a pipeline, of one rank.
double flops_of_step(const TrainParts& parts) {
  double flops =
      parts.pipeline
          ? parts.pipeline->flops()
          : mean_of_step(parts, [&](std::int64_t batch) { return parts.plans->flops(batch); });
  const Update& update = parts.update;
  for (const Launches* list :
       {&update.unscale, &update.norm, &update.clip, &update.step, &update.update_scale})
    if (list != &update.unscale || parts.settings.has_scaler)
      for (const Index operation : *list) flops += parts.program.operations[operation].flops;
  return flops;
}

// Of one rank's batches, by the whole model.
double model_flops_of_step(const TrainParts& parts) {
  const std::vector<double> flops = model_flops_of_samples(parts.config, parts.settings);
  return mean_of_step(parts, [&](std::int64_t batch) {
    return static_cast<double>(parts.settings.samples_of(batch)) *
           flops[static_cast<std::size_t>(batch) % flops.size()];
  });
}

void describe_ranks(TrainParts& parts) {
  const TrainSettings& settings = parts.settings;
  program::Program& program = parts.program;
  program.stages = settings.pipeline_ranks;
  program.gpus_of_batch = settings.gpus_of_batch();
  program.gpus = program.gpus_of_batch * settings.ranks * settings.gpus;
  // Of a pipeline, of this rank: they are joined.
  program.step_flops =
      (parts.part ? 1 : settings.ranks * settings.tensor_ranks) * flops_of_step(parts);
  // Of a pipeline, the first rank tells it for all.
  if (settings.takes_x) program.model_flops = settings.ranks * model_flops_of_step(parts);
}

void describe_loss(TrainParts& parts) {
  program::Gauges& gauges = parts.program.gauges;
  if (!parts.pipeline) {
    gauges.loss = parts.plans->of(0).loss_value;
  } else if (const std::vector<Index> losses = parts.pipeline->losses(); !losses.empty()) {
    gauges.loss = losses.front();
    gauges.more_losses.assign(losses.begin() + 1, losses.end());
  }
  parts.program.target = loss_target(parts.config);
}

// Of a run that computes its numbers.
void describe_numbers(TrainParts& parts) {
  const TrainSettings& settings = parts.settings;
  program::Program& program = parts.program;
  if (!parts.part) program.computed_ranks = settings.ranks * settings.tensor_ranks;
  describe_loss(parts);
  program.gauges.gradients = parts.update.sums_of(parts.gradients());
  program.gauges.watch_gradients = settings.has_scaler || settings.precision.is_narrow();
  program.data = settings.source(parts.config);
  program.data.drop_last |= settings.dp;  // which is given no shorter batch
  program.reading = data::reading_of(
      program::reading_order(program.data, settings.data.train_samples, 0), settings.ranks,
      settings.one_batch ? 1 : settings.steps * settings.accumulate);
  if (settings.evaluates) program.tested_samples = parts.tested_batches() * settings.batch;
}

}  // namespace

void describe(TrainParts& parts) {
  const TrainSettings& settings = parts.settings;
  program::Program& program = parts.program;
  program.steps = static_cast<int>(settings.steps);
  // The first step has no loader ahead of it and finds an empty stream; graphs are captured in the
  // second.
  program.warmup_steps = settings.compile.cuda_graph ? 2 : settings.steps > 1 ? 1 : 0;
  program.samples_per_step = samples_of_step(parts);
  program.data.tokens = settings.data.shape.tokens;
  if (!settings.one_batch)
    program.steps_per_epoch =
        static_cast<double>(settings.epoch) / static_cast<double>(settings.accumulate);
  program.parameters = parts.graph.parameter_count();
  describe_ranks(parts);
  program.timing_only = !settings.computes;
  program.seed = parts.config.whole("seed");
  program.gauges.scale = parts.update.scaler.scale;
  program.gauges.found_inf = parts.update.scaler.found_inf;
  if (settings.computes) describe_numbers(parts);
}

}  // namespace trainscope::train
