#include "train/loop/train_plans.h"

#include <fmt/format.h>

#include "train/kernels/kernels.h"
#include "train/model/model_flops.h"
#include "train/model/models.h"
#include "train/parallel/cut_layers.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::MemoryKind;
using program::Role;

constexpr std::int64_t kFloat = 4;  // bytes

MemoryKind memory_of(const TrainSettings& settings) {
  return settings.on_cpu ? MemoryKind::kPageable : MemoryKind::kDevice;
}

}  // namespace

TrainPlans::TrainPlans(const Parts& parts, Index scale)
    : parts_(parts), buffers_(memory_of(parts.settings)) {
  const TrainSettings& settings = parts.settings;
  options_.precision = settings.precision;
  options_.checkpoint_every = settings.checkpoint_every;
  options_.loss_divisor = static_cast<int>(settings.accumulate);
  options_.scale = scale;
  options_.compile = settings.compile;
  options_.pieces = parts.pieces;
  if (const auto samples = parts_of_batch(settings.batch, settings.gpus); samples.size() > 1) {
    add_data_parallel(samples);
  } else {
    if (settings.image_sizes > 1) {
      for (const std::int64_t side : settings.sides()) add_size(side);
    } else {
      for (const BatchBuffers& batch : parts.feed.batches()) add(batch);
    }
    if (settings.evaluates) add_evaluation();
  }
  keep_losses();
  count_flops();
}

// An epoch's last batch may be a shorter one.
void TrainPlans::add(const BatchBuffers& batch) {
  const TrainSettings& settings = parts_.settings;
  const bool is_short = settings.has_short_batch() && &batch == &parts_.feed.batches().back();
  if (!is_short) return add(parts_.graph, batch);
  add(build_own_model(parts_.config, settings, settings.rest), batch);
}

void TrainPlans::add(const Graph& graph, const BatchBuffers& batch) {
  OfBatch& plans = plans_.emplace_back();
  TapeOptions options = options_;
  const auto plan = [&] {
    return plan_training(parts_.program, graph, parts_.model, buffers_, batch, options);
  };
  plans.first = plan();
  if (parts_.convolutions) parts_.convolutions->expand(plans.first);
  if (parts_.compiled) parts_.compiled->lay_out(plans.first);
  // FSDP adds what it has scattered, unless it scatters once for all.
  if (parts_.settings.fsdp && !parts_.settings.no_sync) return;
  if (parts_.settings.accumulate == 1 && !parts_.settings.gradients_stay) return;
  options.accumulate = true;
  plans.later = plan();
  if (parts_.convolutions) parts_.convolutions->expand(*plans.later);
}

// Of the same model on images of another size, which a kernel makes of the batch.
void TrainPlans::add_size(std::int64_t side) {
  program::Program& program = parts_.program;
  TrainingData data = parts_.settings.data;
  data.shape.height = data.shape.width = side;
  const Graph graph = build_model(parts_.config, data, parts_.settings.batch);
  BatchBuffers batch = parts_.feed.batches()[0];
  const Index whole = batch.x;
  const program::ElementType type = program.buffers[whole].type;
  batch.x = add_numbers(program, fmt::format("x, {0} x {0}", side), graph.values[0], type,
                        memory_of(parts_.settings), Role::kBatch);
  const auto bytes = program.buffers[whole].bytes + program.buffers[batch.x].bytes;
  constexpr double kFlopsEach = 2;  // nearest, as F.interpolate does: where from
  program::Operation resize = pointwise("upsample_nearest2d", "aten::upsample_nearest2d",
                                        program::OperationKind::kElementwise, graph.values[0],
                                        kFlopsEach, static_cast<double>(bytes));
  resize.type = type;
  resize.reads = {whole};
  resize.writes = {batch.x};
  program.operations.push_back(std::move(resize));
  resizes_.push_back({static_cast<Index>(program.operations.size() - 1), {batch.x}, {}});
  add(graph, batch);
}

// Of one process: the replicas' forward and backward are apart from the loss.
void TrainPlans::add_data_parallel(const std::vector<std::int64_t>& samples) {
  dp_.emplace(parts_.program, parts_.config, parts_.settings.data, parts_.model, samples, options_,
              *parts_.convolutions,
              DataParallel::Lines{parts_.lines.forward, parts_.lines.backward});
  for (const BatchBuffers& batch : parts_.feed.batches())
    plans_.emplace_back().first =
        dp_->replicas_compute_loss()
            ? plan_mean_loss(parts_.program, dp_->output(), buffers_, options_)
            : plan_loss(parts_.program, parts_.graph, dp_->output(), batch.y, buffers_, options_);
}

void TrainPlans::add_evaluation() {
  program::Program& program = parts_.program;
  evaluation_.correct =
      add_buffer(program, "correct", kFloat, memory_of(parts_.settings), Role::kActivation);
  evaluation_.correct_on_host =
      add_buffer(program, "correct on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
  evaluation_.plan = plan_evaluation(program, parts_.graph, parts_.model, buffers_,
                                     parts_.feed.tested(), options_, evaluation_.correct);
  if (parts_.convolutions) parts_.convolutions->expand(evaluation_.plan);
  program.gauges.correct = evaluation_.correct;
}

// What is done with the loss comes after the plan's last launch: the loop's body gives the loss's
// memory back.
void TrainPlans::keep_losses() {
  const TrainSettings& settings = parts_.settings;
  if (settings.item_every == 0 && !settings.keeps_numbers && !settings.keeps_losses) return;
  const auto keep = [&](Plan& plan) {
    for (auto* list : {&plan.forward, &plan.loss, &plan.scale, &plan.backward})
      for (PlannedLaunch& launch : *list)
        if (std::erase(launch.freed, plan.loss_value) > 0) leaves_loss_ = true;
  };
  for (OfBatch& plans : plans_) {
    keep(plans.first);
    if (plans.later) keep(*plans.later);
  }
}

void TrainPlans::count_flops() {
  for (OfBatch& plans : plans_) {
    plans.first_flops = flops_of(plans.first);
    plans.later_flops = plans.later ? flops_of(*plans.later) : plans.first_flops;
  }
}

double TrainPlans::flops_of(const Plan& plan) const {
  double flops = dp_ ? dp_->flops() : 0;
  for (const auto* list : {&plan.forward, &plan.loss, &plan.scale, &plan.backward})
    for (const PlannedLaunch& launch : *list)
      flops += counted_flops(parts_.program.operations[launch.operation]);
  return flops;
}

std::size_t TrainPlans::place_of(std::int64_t batch) const {
  return resizes_.empty() ? parts_.feed.place_of(batch)
                          : static_cast<std::size_t>(batch) % plans_.size();
}

const Plan& TrainPlans::of(std::int64_t batch) const {
  const OfBatch& plans = plans_[place_of(batch)];
  const TrainSettings& settings = parts_.settings;
  const bool stay = settings.gradients_stay && !settings.fsdp;  // there, the parts' gradients
  const bool adds = batch % settings.accumulate > 0 || (stay && batch > 0);
  return adds && plans.later ? *plans.later : plans.first;
}

double TrainPlans::flops(std::int64_t batch) const {
  const OfBatch& plans = plans_[place_of(batch)];
  return batch % parts_.settings.accumulate == 0 ? plans.first_flops : plans.later_flops;
}

}  // namespace trainscope::train
