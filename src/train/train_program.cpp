// The workload `train`: the classroom loop.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "program/marks.h"
#include "program/reading_order.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/compiled_model.h"
#include "train/compiled_pieces.h"
#include "train/cublas_workspaces.h"
#include "train/cut_layers.h"
#include "train/ddp.h"
#include "train/fsdp.h"
#include "train/hook_order.h"
#include "train/launch_writer.h"
#include "train/lifetimes.h"
#include "train/loss_target.h"
#include "train/model_flops.h"
#include "train/models.h"
#include "train/parallel.h"
#include "train/pipeline.h"
#include "train/pipeline_model.h"
#include "train/ranks.h"
#include "train/tensor_parallel.h"
#include "train/train_listing.h"
#include "train/train_plans.h"
#include "train/train_settings.h"
#include "train/update.h"
#include "train/update_writer.h"
#include "train/validation_loop.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::MemoryKind;
using program::Phase;
using program::Role;

constexpr std::int64_t kFloat = 4;   // bytes
constexpr double kLeastOfBatch = 4;  // commands: the loader's, or what any model's pass has

// One rank of a pipeline.
struct PipelineRank {
  const PipelineModel& model;
  int rank = 0;  // of its pipeline
  int ranks = 1;

  bool has_first_stage() const { return rank == 0; }
  bool has_last_stage() const { return rank + 1 == ranks; }
};

// Buffers, streams and operations of the loop, and the commands of one step.
class TrainBuilder {
 public:
  TrainBuilder(const program::Config& config, const machine::Machine& machine,
               const std::optional<PipelineRank>& part = std::nullopt)
      : config_(config),
        gpu_(machine.gpu),
        settings_(train_settings(config, machine)),
        graph_(build_own_model(config, settings_, settings_.batch)),
        part_(part),
        launch_(settings_.on_cpu, convolutions_on_gpu()) {
    if (!can_be_computed(graph_, settings_)) settings_.computes = settings_.evaluates = false;
    settings_.takes_x = !part || part->has_first_stage();
    settings_.takes_y = !part || part->has_last_stage();
  }

  program::Program build() {
    check_room(kLeastOfBatch * static_cast<double>(settings_.steps * settings_.accumulate));
    program_.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
    program_.streams.push_back(compute_stream(config_));
    if (settings_.own_stream)  // as torch.cuda.Stream() makes it
      program_.streams.push_back({"stream 20", 20, program::StreamKind::kNonBlocking, 0, 0});
    lines_ = write_train_listing(program_.listing, config_, settings_, graph_,
                                 part_ ? listed(part_->model) : ListedStages{});
    feed_.emplace(program_, config_, graph_, settings_, lines_);
    loss_host_ =
        add_buffer(program_, "loss on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
    add_model();
    if (settings_.tensor_parallel) tensor_.emplace(program_, config_, settings_);
    if (settings_.fsdp)
      fsdp_.emplace(program_, config_, graph_, model_, settings_, tensor_ ? &*tensor_ : nullptr);
    update_ = add_update(program_, config_, fsdp_ ? fsdp_->shards() : model_, fsdp_.has_value());
    writer_.emplace(
        update_, settings_, lines_, launch_, [this](ThreadWriter& main, const RankSum& sum) {
          fsdp_ && !sum.of_tensor_group ? fsdp_->sum(main, sum) : tensor_->sum(main, sum);
        });
    const std::vector<int> pieces = compiled_pieces(config_, settings_, graph_);
    if (settings_.compile.any())
      compiled_.emplace(program_, config_, settings_, count_pieces(pieces));
    if (part_) {
      pipeline_.emplace(PipelineParts{program_, config_, settings_, lines_, part_->model,
                                      stage_buffers_, feed_->of(0), *convolutions_},
                        part_->rank);
    } else {
      plans_.emplace(TrainPlans::Parts{program_, config_, settings_, lines_, graph_, model_, *feed_,
                                       convolutions_ ? &*convolutions_ : nullptr,
                                       compiled_ ? &*compiled_ : nullptr, pieces},
                     update_.scaler.scale);
    }
    if (settings_.ddp && !part_) {
      replicas_.emplace(program_, config_, settings_);
      ddp_.emplace(program_, config_, graph_, model_, hook_order(graph_, pieces), *replicas_);
    }
    if (settings_.validation.after(settings_.steps) > 0) add_validation();
    if (!settings_.on_cpu) add_autograd_thread();
    describe();
    write_program();
    add_cublas_workspaces(program_, gpu_);
    return std::move(program_);
  }

 private:
  // ---- What there is ----------------------------------------------------------------------------

  Convolutions* convolutions_on_gpu() {
    if (settings_.on_cpu) return nullptr;
    return &convolutions_.emplace(program_, gpu_, config_.flag("cudnn.benchmark"));
  }

  void add_model() {
    if (part_) {
      stage_buffers_ = add_stage_buffers(program_, part_->model, graph_, settings_, part_->rank);
      model_ = joined(stage_buffers_);
    } else {
      model_ = add_model_buffers(program_, graph_, settings_.precision.model,
                                 settings_.on_cpu ? MemoryKind::kPageable : MemoryKind::kDevice);
    }
  }

  void add_validation() {
    const ValidationLoop::Parts parts{program_,
                                      config_,
                                      settings_,
                                      lines_,
                                      graph_,
                                      model_,
                                      *feed_,
                                      convolutions_ ? &*convolutions_ : nullptr,
                                      ddp_ ? &*ddp_ : nullptr};
    validation_.emplace(parts, loss_host_);
  }

  // Backward runs on a thread of autograd's own, one a device (torch/csrc/autograd/engine.cpp);
  // loss.backward() hands it the work and waits, without the interpreter's lock.
  void add_autograd_thread() {
    program_.queues.push_back({"backward to do", 1});
    program_.queues.push_back({"backward done", 1});
    backward_done_ = static_cast<Index>(program_.queues.size() - 1);
    backward_to_do_ = backward_done_ - 1;
    program_.threads.push_back({"autograd thread", program::ThreadRole::kAutograd, 0, {}});
    autograd_ = static_cast<Index>(program_.threads.size() - 1);
  }

  void describe() {
    program_.steps = static_cast<int>(settings_.steps);
    // The first step has no loader ahead of it and finds an empty stream; graphs are captured in
    // the second.
    program_.warmup_steps = settings_.compile.cuda_graph ? 2 : settings_.steps > 1 ? 1 : 0;
    program_.samples_per_step = samples_of_step();
    program_.data.tokens = settings_.data.shape.tokens;
    if (!settings_.one_batch)
      program_.steps_per_epoch =
          static_cast<double>(settings_.epoch) / static_cast<double>(settings_.accumulate);
    program_.parameters = graph_.parameter_count();
    program_.stages = settings_.pipeline_ranks;
    program_.gpus_of_batch = settings_.gpus_of_batch();
    program_.gpus = program_.gpus_of_batch * settings_.ranks * settings_.gpus;
    // Of a pipeline, of this rank: they are joined.
    program_.step_flops = (part_ ? 1 : settings_.ranks * settings_.tensor_ranks) * flops_of_step();
    // Of a pipeline, the first rank tells it for all.
    if (settings_.takes_x) program_.model_flops = settings_.ranks * model_flops_of_step();
    program_.timing_only = !settings_.computes;
    program_.seed = config_.whole("seed");
    program::Gauges& gauges = program_.gauges;
    gauges.scale = update_.scaler.scale;
    gauges.found_inf = update_.scaler.found_inf;
    if (settings_.computes) describe_numbers();
  }

  void describe_numbers() {
    program::Gauges& gauges = program_.gauges;
    if (!part_) program_.computed_ranks = settings_.ranks * settings_.tensor_ranks;
    if (!pipeline_) {
      gauges.loss = plans_->of(0).loss_value;
    } else if (const std::vector<Index> losses = pipeline_->losses(); !losses.empty()) {
      gauges.loss = losses.front();
      gauges.more_losses.assign(losses.begin() + 1, losses.end());
    }
    program_.target = loss_target(config_);
    gauges.gradients = update_.sums_of(gradients());
    gauges.watch_gradients = settings_.has_scaler || settings_.precision.is_narrow();
    program_.data = settings_.source(config_);
    program_.data.drop_last |= settings_.dp;  // which is given no shorter batch
    program_.reading = data::reading_of(
        program::reading_order(program_.data, settings_.data.train_samples, 0), settings_.ranks,
        settings_.one_batch ? 1 : settings_.steps * settings_.accumulate);
    if (!settings_.evaluates) return;
    program_.tested_samples = tested_batches() * settings_.batch;
  }

  std::int64_t tested_batches() const { return settings_.data.test_samples / settings_.batch; }

  // Of all batches after the warm-up, on average a step.
  template <typename Value>
  double mean_of_step(const Value& of_batch) const {
    const std::int64_t first = program_.warmup_steps * settings_.accumulate;
    double sum = 0;
    for (std::int64_t batch = first; batch < settings_.batches(); ++batch) sum += of_batch(batch);
    return sum / static_cast<double>(settings_.steps - program_.warmup_steps);
  }
  double samples_of_step() const {
    return static_cast<double>(settings_.ranks) * mean_of_step([&](std::int64_t batch) {
             return static_cast<double>(settings_.samples_of(batch));
           });
  }
  // Of one process; of a pipeline, of one rank.
  double flops_of_step() const {
    double flops = pipeline_
                       ? pipeline_->flops()
                       : mean_of_step([&](std::int64_t batch) { return plans_->flops(batch); });
    for (const Launches* list :
         {&update_.unscale, &update_.norm, &update_.clip, &update_.step, &update_.update_scale})
      if (list != &update_.unscale || settings_.has_scaler)
        for (const Index operation : *list) flops += program_.operations[operation].flops;
    return flops;
  }

  // Of one rank's batches, by the whole model.
  double model_flops_of_step() const {
    const std::vector<double> flops = model_flops_of_samples(config_, settings_);
    return mean_of_step([&](std::int64_t batch) {
      return static_cast<double>(settings_.samples_of(batch)) *
             flops[static_cast<std::size_t>(batch) % flops.size()];
    });
  }

  // ---- The loop ---------------------------------------------------------------------------------

  void write_program() {
    ThreadWriter main(program_, 0);
    ThreadWriter autograd(program_, autograd_);  // on a CPU, the same thread
    feed_->move_set(main);
    main.at(lines_.model);
    launch_.allocate(main, fsdp_ ? fsdp_->shards().parameters : model_.parameters);
    if (ddp_) ddp_->construct(main.at(lines_.ddp));
    if (pipeline_ && pipeline_->is_wrapped()) pipeline_->construct(main.at(lines_.ddp));
    feed_->begin(main);
    const int alike = ranks_differ(config_) ? settings_.processes() : 1;
    StepRoom room(main, settings_.steps, alike), autograd_room(autograd, settings_.steps, alike);
    for (std::int64_t step = 0; step < settings_.steps; ++step) {
      main.at(lines_.loop).add(program::BeginMark{}, trace::step_mark(step));
      write_step(main, autograd, step);
      main.at(lines_.loop).add(program::EndMark{});
      if (settings_.validation.follows(step)) validation_->write(main, launch_);
      room.after(step);
      autograd_room.after(step);
    }
    if (lines_.end) main.at(lines_.end).add(program::DeviceSync{});
    if (settings_.evaluates) write_evaluation(main);
  }

  void write_step(ThreadWriter& main, ThreadWriter& autograd, std::int64_t step) {
    if (!settings_.prefetch && settings_.accumulate == 1) feed_->next(main, step);
    if (lines_.empty_cache) main.at(lines_.empty_cache).add(program::EmptyCache{});
    if (lines_.timer_start)
      main.at(lines_.timer_start).add(program::BeginMark{}, program::kTimerMark);
    if (settings_.accumulate > 1) write_zero_grad(main);
    const std::int64_t first = step * settings_.accumulate, last = first + settings_.accumulate - 1;
    for (std::int64_t batch = first; batch <= last; ++batch) {
      write_batch(main, autograd, batch);
      if (batch < last) free_loss(main, batch);
    }
    const bool has_loss = !part_ || part_->has_last_stage();
    writer_->write(main, step, (settings_.computes && has_loss) || settings_.has_scaler);
    const std::int64_t every = settings_.item_every;
    if (lines_.sleep) write_sleep(main);
    if (every > 0 && step % every == every - 1) write_item(main.at(lines_.item), last);
    if (lines_.keep_loss) write_keep_loss(main, last);
    if (!settings_.keeps_losses) free_loss(main, last);
    if (lines_.sync) main.at(lines_.sync).add(program::DeviceSync{});
    if (lines_.timer_stop) main.at(lines_.timer_stop).add(program::EndMark{});
  }

  void free_loss(ThreadWriter& main, std::int64_t batch) const {
    if (plans_ && plans_->leaves_loss()) launch_.free(main, {plans_->of(batch).loss_value});
  }

  // losses.append(loss.item()), or the tensor: backward has freed what its graph had saved
  // (PyTorch, tests/golden/kept_graphs.py), so it holds its own block, which the list's buffer
  // takes over.
  void write_keep_loss(ThreadWriter& main, std::int64_t batch) {
    if (settings_.keeps_numbers) return write_item(main.at(lines_.keep_loss), batch);
    if (settings_.on_cpu) return;
    const Index loss = plans_->of(batch).loss_value;
    program::Buffer kept = program_.buffers[loss];
    kept.name = "a loss that is kept";
    kept.type = program::ElementType::kBool;  // of memory alone: nothing reads it
    program_.buffers.push_back(std::move(kept));
    main.at(lines_.keep_loss);
    free_loss(main, batch);
    launch_.allocate(main, {static_cast<Index>(program_.buffers.size() - 1)});
  }

  void write_batch(ThreadWriter& main, ThreadWriter& autograd, std::int64_t batch) {
    if (settings_.accumulate > 1) feed_->next(main.at(lines_.next), batch);
    feed_->deliver(main, batch, settings_.steps);
    const bool zero_inside = settings_.accumulate == 1;
    if (zero_inside && settings_.zero_first) write_zero_grad(main);
    if (batch == 0 && config_.flag("loop.cold_start")) write_cublas_load(main);
    if (pipeline_) return write_schedule(main, autograd);
    const Plan& plan = plans_->of(batch);
    const PlannedLaunch* resize = plans_->resize(batch);
    if (resize) launch_(main.at(lines_.resize), *resize);
    if (ddp_ && sums(batch)) ddp_->before_forward(main.at(lines_.forward));
    main.at(lines_.forward).in(Phase::kForward);
    if (DataParallel* dp = plans_->data_parallel()) {
      dp->forward(main, feed_->of(batch));
    } else if (fsdp_) {
      fsdp_->forward(main, plan.forward,
                     compiled_ ? compiled_->forward_by_pieces(launch_) : launch_or_sum());
    } else if (compiled_) {
      compiled_->forward(main, plan.forward, launch_);
    } else if (tensor_) {
      tensor_->run(main, plan.forward, launch_);
    } else {
      launch_(main, plan.forward);
    }
    write_loss(main.at(lines_.loss), plan);
    main.in(Phase::kNone);
    if (zero_inside && !settings_.zero_first) write_zero_grad(main);
    launch_(main.at(lines_.loss).in(Phase::kForward), plan.scale);
    main.in(Phase::kNone);
    write_backward(main, autograd, plan, sums(batch));
    if (resize) launch_.free(main.at(lines_.resize), resize->allocated);
  }

  // A launch, or what ranks that share layers out do instead.
  WriteLaunch launch_or_sum() {
    if (!tensor_) return launch_;
    return [this](ThreadWriter& thread, const PlannedLaunch& planned) {
      tensor_->run(thread, planned, launch_);
    };
  }

  void write_loss(ThreadWriter& main, const Plan& plan) {
    tensor_ ? tensor_->run(main, plan.loss, launch_) : launch_(main, plan.loss);
  }

  // All micro-batches, forward and backward.
  void write_schedule(ThreadWriter& main, ThreadWriter& autograd) {
    pipeline_->step({main, autograd, backward_to_do_, backward_done_}, launch_, gradients_there_);
    gradients_there_ = true;
  }

  // Whether the batch's gradients are summed over all ranks.
  bool sums(std::int64_t batch) const {
    return (settings_.ddp || settings_.fsdp) &&
           (!settings_.no_sync || batch % settings_.accumulate == settings_.accumulate - 1);
  }

  void write_backward(ThreadWriter& main, ThreadWriter& autograd, const Plan& plan, bool sums) {
    if (settings_.on_cpu) {  // on the thread that calls it (torch/csrc/autograd/engine.cpp)
      gradients_there_ = true;
      launch_(main.at(lines_.backward).in(Phase::kBackward), plan.backward);
      main.in(Phase::kNone);
      return;
    }
    main.at(lines_.backward).add(program::Push{backward_to_do_, 0});
    autograd.at(lines_.backward).in(Phase::kBackward).add(program::Pop{backward_to_do_});
    std::vector<PlannedLaunch> launches = plan.backward;
    DataParallel* dp = plans_->data_parallel();
    if (!gradients_there_ && !dp && !fsdp_) allocate_gradients(autograd, launches);
    if (fsdp_) {
      fsdp_->backward(autograd, std::move(launches),
                      compiled_ ? compiled_->backward_by_pieces(launch_) : launch_or_sum(), sums);
    } else if (sums) {
      launch_and_sum(autograd, launches);
    } else {
      launch_all(autograd, launches, [](std::size_t) {});
    }
    if (dp) dp->backward(autograd, plan.output_gradient, gradients_there_);
    gradients_there_ = true;
    autograd.add(program::Push{backward_done_, 0});
    main.add(program::Pop{backward_done_}, "backward");
  }

  void launch_and_sum(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches) {
    ddp_->begin_backward(autograd, launches);
    launch_all(autograd, launches,
               [&](std::size_t launch) { ddp_->after_launch(autograd, launch); });
    ddp_->end_backward(autograd);
  }

  // Of a backward. `done`: after each, by its place.
  void launch_all(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                  const CompiledModel::Done& done) {
    if (compiled_) return compiled_->backward(autograd, launches, launch_, done);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (tensor_)
        tensor_->run(autograd, launches[i], launch_);
      else
        launch_(autograd, launches[i]);
      done(i);
    }
  }

  // Each where it is written first; those that a graph writes, once for all.
  void allocate_gradients(ThreadWriter& autograd, std::vector<PlannedLaunch>& launches) const {
    if (settings_.compile.cuda_graph) return launch_.allocate(autograd, gradients());
    if (gradients_are_views()) return;
    allocate_where_written(program_, {model_.gradients.begin(), model_.gradients.end()}, launches);
  }

  // zero_grad(set_to_none=True): the gradients' memory is free until backward makes new ones.
  void write_zero_grad(ThreadWriter& main) {
    if (settings_.zero_never) return;
    main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    if (!gradients_there_) return;
    if (settings_.compile.cuda_graph) return;  // their memory is the graph's
    if (!config_.flag("zero_grad.set_to_none")) return launch_(main, update_.zero_grad);
    gradients_there_ = false;
    if (fsdp_) return fsdp_->drop_gradients(main);
    if (!gradients_are_views()) launch_.free(main, gradients());
  }

  // Parts of DistributedDataParallel's buckets.
  bool gradients_are_views() const {
    return pipeline_ ? pipeline_->gradients_are_views() : ddp_ && ddp_->gradients_are_views();
  }

  void write_sleep(ThreadWriter& main) {
    const double nanos = config_.number("loop.sleep_ms") * double{kMillisecond};
    main.at(lines_.sleep).add(program::HostWork{std::llround(nanos), false, false}, "time.sleep");
  }

  void write_cublas_load(ThreadWriter& main) {
    const double load_ms = config_.number("loop.cublas_load_ms");
    const auto load = std::llround(load_ms * static_cast<double>(kMillisecond));
    main.at(lines_.forward).add(program::HostWork{load, false, true, true}, "load cuBLAS");
  }

  void write_item(ThreadWriter& main, std::int64_t batch) {
    if (settings_.on_cpu) return main.add(program::FrameworkCall{}, "aten::item");
    const Index loss = plans_->of(batch).loss_value;
    main.add(program::ReadScalar{{loss, loss_host_, program_.buffers[loss].bytes, 0}},
             "aten::item");
  }

  // ---- Evaluation -------------------------------------------------------------------------------

  void write_evaluation(ThreadWriter& main) {
    const auto& [plan, correct, correct_on_host] = plans_->evaluation();
    launch_.allocate(main.at(lines_.evaluate), {correct});
    for (std::int64_t batch = 0; batch < tested_batches(); ++batch) {
      feed_->deliver_test(main.at(lines_.evaluate), batch);
      main.at(lines_.evaluate_forward).in(Phase::kForward);
      if (fsdp_) {
        fsdp_->forward(main, plan.forward, launch_);
      } else {
        launch_(main, plan.forward);
      }
      launch_(main, plan.loss);
      main.in(Phase::kNone);
    }
    main.at(lines_.accuracy).add(program::LogEvaluation{settings_.steps, 0});
    if (settings_.on_cpu) return main.add(program::FrameworkCall{}, "aten::item");
    main.add(program::ReadScalar{{correct, correct_on_host, kFloat, 0}}, "aten::item");
  }

  // Of what the optimizer updates.
  std::vector<Index> gradients() const {
    if (fsdp_) return fsdp_->gradients();
    std::vector<Index> there;
    for (const Index gradient : model_.gradients)
      if (gradient != program::kNoIndex) there.push_back(gradient);
    return there;
  }

  const program::Config& config_;
  const machine::Gpu& gpu_;
  program::Program program_;
  TrainSettings settings_;
  Graph graph_;
  std::optional<PipelineRank> part_;
  std::optional<Convolutions> convolutions_;
  LaunchWriter launch_;
  TrainLines lines_;
  std::optional<BatchFeed> feed_;
  ModelBuffers model_;
  std::vector<ModelBuffers> stage_buffers_;  // of a pipeline; the model's are these together
  Update update_;
  std::optional<UpdateWriter> writer_;  // of that
  std::optional<CompiledModel> compiled_;
  std::optional<DdpGroup> replicas_;
  std::optional<Ddp> ddp_;
  std::optional<Fsdp> fsdp_;
  std::optional<TensorParallel> tensor_;
  std::optional<Pipeline> pipeline_;
  std::optional<TrainPlans> plans_;
  std::optional<ValidationLoop> validation_;
  Index loss_host_ = 0;
  Index autograd_ = 0, backward_to_do_ = 0, backward_done_ = 0;
  bool gradients_there_ = false;
};

program::Program build_pipeline(const program::Config& config, const machine::Machine& machine) {
  const TrainSettings settings = train_settings(config, machine);
  const PipelineModel model = cut_for_pipeline(config, settings);
  std::vector<program::Program> programs;
  for (int rank = 0; rank < settings.pipeline_ranks; ++rank)
    programs.push_back(
        TrainBuilder(config, machine, PipelineRank{model, rank, settings.pipeline_ranks}).build());
  const std::int64_t slow = config.whole("straggler.rank");
  std::vector<RankProgram> ranks;
  for (int rank = 0; rank < settings.processes(); ++rank)
    ranks.push_back({&programs[static_cast<std::size_t>(rank % settings.pipeline_ranks)],
                     rank == slow ? config.number("straggler.factor") : 1.0});
  return join_stages(ranks);
}

}  // namespace

program::Program build_train_stages(const program::Config& config, const machine::Machine& machine,
                                    int rank) {
  const TrainSettings settings = train_settings(config, machine);
  const PipelineModel model = cut_for_pipeline(config, settings);
  const PipelineRank part{model, rank % settings.pipeline_ranks, settings.pipeline_ranks};
  return only_stages(TrainBuilder(config, machine, part).build(), rank);
}

program::Program build_train(const program::Config& config, const machine::Machine& machine) {
  if (trains_in_stages(config)) return build_pipeline(config, machine);
  program::Program one = TrainBuilder(config, machine).build();
  if (!ranks_differ(config)) return one;
  std::optional<program::Program> shorter;
  if (config.flag("uneven_batches")) {
    program::Config fewer = config;
    fewer.set("steps", config.whole("steps") - 1);
    shorter = TrainBuilder(fewer, machine).build();
  }
  std::vector<RankProgram> ranks(static_cast<std::size_t>(config.whole("parallel.world_size")),
                                 {&one});
  if (shorter) ranks.back().program = &*shorter;
  if (const std::int64_t slow = config.whole("straggler.rank"); slow >= 0)
    ranks[static_cast<std::size_t>(slow)].slowness = config.number("straggler.factor");
  return join_ranks(ranks);
}

}  // namespace trainscope::train
