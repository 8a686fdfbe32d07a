#include "train/train_parts.h"

#include "train/compile/compiled_pieces.h"
#include "train/compile/hook_order.h"
#include "train/parallel/cut_layers.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::MemoryKind;
using program::Role;

constexpr std::int64_t kFloat = 4;   // bytes
constexpr double kLeastOfBatch = 4;  // commands: the loader's, or what any model's pass has

}  // namespace

TrainParts::TrainParts(const program::Config& of, const machine::Machine& machine,
                       const std::optional<PipelineRank>& rank)
    : config(of),
      gpu(machine.gpu),
      settings(train_settings(of, machine)),
      graph(build_own_model(of, settings, settings.batch)),
      part(rank),
      launch(settings.on_cpu, convolutions_on_gpu()) {
  if (!can_be_computed(graph, settings)) settings.computes = settings.evaluates = false;
  settings.takes_x = !part || part->has_first_stage();
  settings.takes_y = !part || part->has_last_stage();
  check_room(kLeastOfBatch * static_cast<double>(settings.steps * settings.accumulate));
  add_threads_and_streams();
  lines = write_train_listing(program.listing, config, settings, graph,
                              part ? listed(part->model) : ListedStages{});
  feed.emplace(program, config, graph, settings, lines);
  loss_on_host =
      add_buffer(program, "loss on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
  add_model();
  add_update();
  add_plans();
  if (settings.validation.after(settings.steps) > 0) add_validation();
  if (!settings.on_cpu) add_autograd_thread();
}

Convolutions* TrainParts::convolutions_on_gpu() {
  if (settings.on_cpu) return nullptr;
  return &convolutions.emplace(program, gpu, config.flag("cudnn.benchmark"));
}

void TrainParts::add_threads_and_streams() {
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  program.streams.push_back(compute_stream(config));
  if (settings.own_stream)  // as torch.cuda.Stream() makes it
    program.streams.push_back({"stream 20", 20, program::StreamKind::kNonBlocking, 0, 0});
}

void TrainParts::add_model() {
  if (part) {
    stage_buffers = add_stage_buffers(program, part->model, graph, settings, part->rank);
    model = joined(stage_buffers);
  } else {
    model = add_model_buffers(program, graph, settings.precision.model,
                              settings.on_cpu ? MemoryKind::kPageable : MemoryKind::kDevice);
  }
}

void TrainParts::add_update() {
  if (settings.tensor_parallel) tensor.emplace(program, config, settings);
  if (settings.fsdp)
    fsdp.emplace(program, config, graph, model, settings, tensor ? &*tensor : nullptr);
  update = train::add_update(program, config, fsdp ? fsdp->shards() : model, fsdp.has_value());
  update_writer.emplace(
      update, settings, lines, launch, [this](ThreadWriter& main, const RankSum& sum) {
        fsdp && !sum.of_tensor_group ? fsdp->sum(main, sum) : tensor->sum(main, sum);
      });
}

void TrainParts::add_plans() {
  const std::vector<int> pieces = compiled_pieces(config, settings, graph);
  if (settings.compile.any()) compiled.emplace(program, config, settings, count_pieces(pieces));
  if (part) {
    pipeline.emplace(PipelineParts{program, config, settings, lines, part->model, stage_buffers,
                                   feed->of(0), *convolutions},
                     part->rank);
    return;
  }
  plans.emplace(TrainPlans::Parts{program, config, settings, lines, graph, model, *feed,
                                  convolutions ? &*convolutions : nullptr,
                                  compiled ? &*compiled : nullptr, pieces},
                update.scaler.scale);
  if (!settings.ddp) return;
  replicas.emplace(program, config, settings);
  ddp.emplace(program, config, graph, model, hook_order(graph, pieces), *replicas);
}

void TrainParts::add_validation() {
  const ValidationLoop::Parts parts{program,
                                    config,
                                    settings,
                                    lines,
                                    graph,
                                    model,
                                    *feed,
                                    convolutions ? &*convolutions : nullptr,
                                    ddp ? &*ddp : nullptr};
  validation.emplace(parts, loss_on_host);
}

// Backward runs on a thread of autograd's own, one a device (torch/csrc/autograd/engine.cpp);
// loss.backward() hands it the work and waits, without the interpreter's lock.
void TrainParts::add_autograd_thread() {
  program.queues.push_back({"backward to do", 1});
  program.queues.push_back({"backward done", 1});
  program.threads.push_back({"autograd thread", program::ThreadRole::kAutograd, 0, {}});
  autograd.thread = static_cast<Index>(program.threads.size() - 1);
  autograd.done = static_cast<Index>(program.queues.size() - 1);
  autograd.to_do = autograd.done - 1;
}

std::vector<Index> TrainParts::gradients() const {
  if (fsdp) return fsdp->gradients();
  std::vector<Index> there;
  for (const Index gradient : model.gradients)
    if (gradient != program::kNoIndex) there.push_back(gradient);
  return there;
}

bool TrainParts::gradients_are_views() const {
  return pipeline ? pipeline->gradients_are_views() : ddp && ddp->gradients_are_views();
}

}  // namespace trainscope::train
