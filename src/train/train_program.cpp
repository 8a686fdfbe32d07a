// The workload `train`: the classroom loop.

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "program/marks.h"
#include "program/reading_order.h"
#include "train/batch_feed.h"
#include "train/build.h"
#include "train/compiled_model.h"
#include "train/convolutions.h"
#include "train/data_parallel.h"
#include "train/ddp.h"
#include "train/kernels.h"
#include "train/lifetimes.h"
#include "train/models.h"
#include "train/ranks.h"
#include "train/tape.h"
#include "train/train_listing.h"
#include "train/train_settings.h"
#include "train/update.h"
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

// Whether a laptop has the memory for the numbers: parameters, gradients and two moments of each,
// values and their gradients, of every rank. Else only times are simulated.
bool can_be_computed(const Graph& graph, const TrainSettings& settings) {
  constexpr double kMost = 4.0 * (std::int64_t{1} << 30);  // bytes
  double numbers = 4.0 * static_cast<double>(graph.parameter_count());
  for (const std::int64_t elements : graph.values) numbers += 2.0 * static_cast<double>(elements);
  return kFloat * numbers * static_cast<double>(settings.ranks) <= kMost;
}

// Buffers, streams and operations of the loop, and the commands of one step.
class TrainBuilder {
 public:
  TrainBuilder(const program::Config& config, const machine::Machine& machine)
      : config_(config),
        settings_(train_settings(config, machine)),
        graph_(build_model(config, settings_.data, settings_.batch)) {
    if (!can_be_computed(graph_, settings_)) settings_.computes = settings_.evaluates = false;
    if (!settings_.on_cpu)
      convolutions_.emplace(program_, machine.gpu, config.flag("cudnn.benchmark"));
  }

  program::Program build() {
    check_room(kLeastOfBatch * static_cast<double>(settings_.steps * settings_.accumulate));
    program_.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
    program_.streams.push_back(compute_stream(config_));
    if (settings_.own_stream)  // as torch.cuda.Stream() makes it
      program_.streams.push_back({"stream 20", 20, program::StreamKind::kNonBlocking, 0, 0});
    lines_ = write_train_listing(program_.listing, config_, settings_, graph_);
    feed_.emplace(program_, config_, graph_, settings_, lines_);
    loss_host_ =
        add_buffer(program_, "loss on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
    model_ = add_model_buffers(program_, graph_, memory());
    update_ = add_update(program_, config_, model_);
    if (settings_.compile.any()) compiled_.emplace(program_, config_, settings_.compile);
    add_plans();
    keep_losses();
    if (settings_.ddp) ddp_.emplace(program_, config_, graph_, model_, settings_.ranks);
    if (!settings_.on_cpu) add_autograd_thread();
    describe();
    write_program();
    return std::move(program_);
  }

 private:
  // The launches of one micro-batch: those of the first of a step make new gradients, the others
  // add to them.
  struct StepPlans {
    Plan first;
    std::optional<Plan> later;
  };

  // ---- What there is ----------------------------------------------------------------------------

  void add_plans() {
    TapeOptions options;
    options.precision = settings_.precision;
    options.checkpoint = config_.flag("checkpoint.enabled");
    options.loss_divisor = static_cast<int>(settings_.accumulate);
    options.scale = update_.scaler.scale;
    options.compile = settings_.compile;
    if (const auto parts = parts_of_batch(settings_.batch, settings_.gpus); parts.size() > 1)
      return add_data_parallel(parts, options);
    if (settings_.image_sizes > 1) {
      for (const std::int64_t side : settings_.sides()) add_plans_of_size(side, options);
    } else {
      for (const BatchBuffers& batch : feed_->batches()) add_plans_of(batch, options);
    }
    if (!settings_.evaluates) return;
    correct_ = add_buffer(program_, "correct", kFloat, memory(), Role::kActivation);
    correct_host_ = add_buffer(program_, "correct on the host", kFloat, MemoryKind::kPageable,
                               Role::kActivation);
    evaluation_ = plan_evaluation(program_, graph_, model_, plan_buffers_, feed_->batches()[0],
                                  options, correct_);
    if (convolutions_) convolutions_->expand(evaluation_);
    program_.gauges.correct = correct_;
  }

  // loss.item() comes after the plan's last launch: the loop's body gives the loss's memory back.
  void keep_losses() {
    if (settings_.item_every == 0) return;
    const auto keep = [&](Plan& plan) {
      for (auto* list : {&plan.forward, &plan.loss, &plan.scale, &plan.backward})
        for (PlannedLaunch& launch : *list)
          if (std::erase(launch.freed, plan.loss_value) > 0) frees_loss_ = true;
    };
    for (StepPlans& plans : plans_) {
      keep(plans.first);
      if (plans.later) keep(*plans.later);
    }
  }
  void free_loss(ThreadWriter& main, std::int64_t batch) const {
    if (frees_loss_) free(main, {plan_of(batch).loss_value});
  }

  // An epoch's last batch may be a shorter one.
  void add_plans_of(const BatchBuffers& batch, const TapeOptions& options) {
    const bool is_short = settings_.has_short_batch() && &batch == &feed_->batches().back();
    if (!is_short) return add_plans_of(graph_, batch, options);
    add_plans_of(build_model(config_, settings_.data, settings_.rest), batch, options);
  }

  void add_plans_of(const Graph& graph, const BatchBuffers& batch, TapeOptions options) {
    StepPlans& plans = plans_.emplace_back();
    options.accumulate = false;
    plans.first = plan_training(program_, graph, model_, plan_buffers_, batch, options);
    if (convolutions_) convolutions_->expand(plans.first);
    if (compiled_) compiled_->lay_out(plans.first);
    if (settings_.accumulate == 1 && !settings_.gradients_stay) return;
    options.accumulate = true;
    plans.later = plan_training(program_, graph, model_, plan_buffers_, batch, options);
    if (convolutions_) convolutions_->expand(*plans.later);
  }

  // Of the same model on images of another size, which a kernel makes of the batch.
  void add_plans_of_size(std::int64_t side, const TapeOptions& options) {
    TrainingData data = settings_.data;
    data.shape.height = data.shape.width = side;
    const Graph graph = build_model(config_, data, settings_.batch);
    BatchBuffers batch = feed_->batches()[0];
    const Index whole = batch.x;
    batch.x = add_buffer(program_, fmt::format("x, {0} x {0}", side), graph.values[0] * kFloat,
                         memory(), Role::kBatch);
    const auto bytes = program_.buffers[whole].bytes + program_.buffers[batch.x].bytes;
    constexpr double kFlopsEach = 2;  // nearest, as F.interpolate does: where from
    program::Operation resize = pointwise("upsample_nearest2d", "aten::upsample_nearest2d",
                                          program::OperationKind::kElementwise, graph.values[0],
                                          kFlopsEach, static_cast<double>(bytes));
    resize.reads = {whole};
    resize.writes = {batch.x};
    program_.operations.push_back(std::move(resize));
    resizes_.push_back({static_cast<Index>(program_.operations.size() - 1), {batch.x}, {}});
    add_plans_of(graph, batch, options);
  }

  // Of one process: the replicas' forward and backward are apart from the loss.
  void add_data_parallel(const std::vector<std::int64_t>& parts, const TapeOptions& options) {
    dp_.emplace(program_, config_, settings_.data, model_, parts, options, *convolutions_,
                DataParallel::Lines{lines_.forward, lines_.backward});
    for (const BatchBuffers& batch : feed_->batches())
      plans_.push_back(
          {dp_->replicas_compute_loss()
               ? plan_mean_loss(program_, dp_->output(), plan_buffers_, options)
               : plan_loss(program_, graph_, dp_->output(), batch.y, plan_buffers_, options),
           std::nullopt});
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
    program_.parameters = graph_.parameter_count();
    program_.step_flops = flops_of_step();
    program_.timing_only = !settings_.computes;
    program_.seed = config_.whole("seed");
    program::Gauges& gauges = program_.gauges;
    gauges.scale = update_.scaler.scale;
    gauges.found_inf = update_.scaler.found_inf;
    if (!settings_.computes) return;
    program_.computed_ranks = settings_.ranks;
    gauges.loss = plans_[0].first.loss_value;
    gauges.gradients = gradients();
    gauges.watch_gradients =
        settings_.has_scaler || settings_.precision.autocast != ElementType::kFp32;
    program_.data = settings_.source(config_);
    program_.reading = data::reading_of(
        program::reading_order(program_.data, settings_.data.train_samples, 0), settings_.ranks,
        settings_.one_batch ? 1 : settings_.steps * settings_.accumulate);
    if (!settings_.evaluates) return;
    program_.tested_samples = tested_batches() * settings_.batch;
  }

  std::int64_t tested_batches() const { return settings_.data.test_samples / settings_.batch; }

  double flops_of(const std::vector<PlannedLaunch>& launches) const {
    double flops = 0;
    for (const PlannedLaunch& launch : launches)
      flops += program_.operations[launch.operation].flops;
    return flops;
  }
  double flops_of(const Plan& plan) const {
    return flops_of(plan.forward) + flops_of(plan.loss) + flops_of(plan.scale) +
           flops_of(plan.backward) + (dp_ ? dp_->flops() : 0);
  }
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
  double flops_of_step() const {
    std::vector<std::pair<double, double>> flops_of_plans;  // of the first batch of a step, later
    for (const StepPlans& one : plans_)
      flops_of_plans.emplace_back(flops_of(one.first),
                                  flops_of(one.later ? *one.later : one.first));
    double flops = mean_of_step([&](std::int64_t batch) {
      const auto& [first, later] = flops_of_plans[place_of(batch)];
      return batch % settings_.accumulate == 0 ? first : later;
    });
    for (const Launches* list :
         {&update_.unscale, &update_.clip, &update_.step, &update_.update_scale})
      if (list != &update_.unscale || settings_.has_scaler)
        for (const Index operation : *list) flops += program_.operations[operation].flops;
    return flops;
  }

  // ---- The loop ---------------------------------------------------------------------------------

  void write_program() {
    ThreadWriter main(program_, 0);
    ThreadWriter autograd(program_, autograd_);  // on a CPU, the same thread
    main.at(lines_.model);
    allocate(main, model_.parameters);
    if (ddp_) ddp_->construct(main.at(lines_.ddp));
    feed_->begin(main);
    const int alike = ranks_differ(config_) ? settings_.ranks : 1;
    StepRoom room(main, settings_.steps, alike), autograd_room(autograd, settings_.steps, alike);
    for (std::int64_t step = 0; step < settings_.steps; ++step) {
      main.at(lines_.loop).add(program::BeginMark{}, fmt::format("ProfilerStep#{}", step));
      write_step(main, autograd, step);
      main.at(lines_.loop).add(program::EndMark{});
      room.after(step);
      autograd_room.after(step);
    }
    if (lines_.end) main.at(lines_.end).add(program::DeviceSync{});
    if (settings_.evaluates) write_evaluation(main);
  }

  void write_step(ThreadWriter& main, ThreadWriter& autograd, std::int64_t step) {
    if (!settings_.prefetch && settings_.accumulate == 1) feed_->next(main, step);
    if (lines_.timer_start)
      main.at(lines_.timer_start).add(program::BeginMark{}, program::kTimerMark);
    if (settings_.accumulate > 1) write_zero_grad(main);
    const std::int64_t first = step * settings_.accumulate, last = first + settings_.accumulate - 1;
    for (std::int64_t batch = first; batch <= last; ++batch) {
      write_batch(main, autograd, batch);
      if (batch < last) free_loss(main, batch);
    }
    write_update(main, step);
    const std::int64_t every = settings_.item_every;
    if (lines_.sleep) write_sleep(main);
    if (every > 0 && step % every == every - 1) write_item(main, last);
    free_loss(main, last);
    if (lines_.sync) main.at(lines_.sync).add(program::DeviceSync{});
    if (lines_.timer_stop) main.at(lines_.timer_stop).add(program::EndMark{});
  }

  void write_batch(ThreadWriter& main, ThreadWriter& autograd, std::int64_t batch) {
    if (settings_.accumulate > 1) feed_->next(main.at(lines_.next), batch);
    feed_->deliver(main, batch, settings_.steps);
    const bool zero_inside = settings_.accumulate == 1;
    if (zero_inside && settings_.zero_first) write_zero_grad(main);
    if (batch == 0 && config_.flag("loop.cold_start")) write_cublas_load(main);
    const Plan& plan = plan_of(batch);
    const PlannedLaunch* resize = resizes_.empty() ? nullptr : &resizes_[place_of(batch)];
    if (resize) launch(main.at(lines_.resize), *resize);
    if (ddp_ && sums(batch)) ddp_->before_forward(main.at(lines_.forward));
    main.at(lines_.forward).in(Phase::kForward);
    if (dp_) {
      dp_->forward(main, feed_->of(batch));
    } else if (compiled_) {
      compiled_->forward(main, plan.forward, plan.compiled_forward, launcher());
    } else {
      launch(main, plan.forward);
    }
    launch(main.at(lines_.loss), plan.loss);
    main.in(Phase::kNone);
    if (zero_inside && !settings_.zero_first) write_zero_grad(main);
    launch(main.at(lines_.loss).in(Phase::kForward), plan.scale);
    main.in(Phase::kNone);
    write_backward(main, autograd, plan, sums(batch));
    if (resize) free(main.at(lines_.resize), resize->allocated);
  }

  // Whether the batch's gradients are summed over all ranks.
  bool sums(std::int64_t batch) const {
    return settings_.ddp &&
           (!settings_.no_sync || batch % settings_.accumulate == settings_.accumulate - 1);
  }

  std::size_t place_of(std::int64_t batch) const {
    return resizes_.empty() ? feed_->place_of(batch)
                            : static_cast<std::size_t>(batch) % plans_.size();
  }
  const Plan& plan_of(std::int64_t batch) const {
    const StepPlans& plans = plans_[place_of(batch)];
    const bool adds = batch % settings_.accumulate > 0 || (settings_.gradients_stay && batch > 0);
    return adds && plans.later ? *plans.later : plans.first;
  }

  void write_backward(ThreadWriter& main, ThreadWriter& autograd, const Plan& plan, bool sums) {
    if (settings_.on_cpu) {  // on the thread that calls it (torch/csrc/autograd/engine.cpp)
      gradients_there_ = true;
      launch(main.at(lines_.backward).in(Phase::kBackward), plan.backward);
      main.in(Phase::kNone);
      return;
    }
    main.at(lines_.backward).add(program::Push{backward_to_do_, 0});
    autograd.at(lines_.backward).in(Phase::kBackward).add(program::Pop{backward_to_do_});
    std::vector<PlannedLaunch> launches = plan.backward;
    if (!gradients_there_ && !dp_) allocate_gradients(autograd, launches);
    if (compiled_) {
      compiled_->backward(autograd, launches, plan.compiled_backward, launcher());
    } else if (sums) {
      launch_and_sum(autograd, launches);
    } else {
      launch(autograd, launches);
    }
    if (dp_) dp_->backward(autograd, plan.output_gradient, gradients_there_);
    gradients_there_ = true;
    autograd.add(program::Push{backward_done_, 0});
    main.add(program::Pop{backward_done_}, "backward");
  }

  void launch_and_sum(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches) {
    ddp_->begin_backward(autograd, launches);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      launch(autograd, launches[i]);
      ddp_->after_launch(autograd, i);
    }
    ddp_->end_backward(autograd);
  }

  // Each where it is written first; those that a graph writes, once for all.
  void allocate_gradients(ThreadWriter& autograd, std::vector<PlannedLaunch>& launches) const {
    if (settings_.compile.cuda_graph) return allocate(autograd, gradients());
    if (ddp_ && ddp_->gradients_are_views()) return;
    allocate_where_written(program_, {model_.gradients.begin(), model_.gradients.end()}, launches);
  }

  // ---- The update -------------------------------------------------------------------------------

  // zero_grad(set_to_none=True): the gradients' memory is free until backward makes new ones.
  void write_zero_grad(ThreadWriter& main) {
    if (settings_.zero_never) return;
    main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    if (!gradients_there_) return;
    if (settings_.compile.cuda_graph) return;  // their memory is the graph's
    if (!config_.flag("zero_grad.set_to_none")) return launch(main, update_.zero_grad);
    if (!ddp_ || !ddp_->gradients_are_views()) free(main, gradients());
    gradients_there_ = false;
  }

  void write_update(ThreadWriter& main, std::int64_t step) {
    if (!state_there_) {
      state_there_ = true;
      main.at(lines_.step);
      allocate(main, update_.state);
    }
    main.in(Phase::kOptimizer);
    if (settings_.injects(step)) launch(main.at(lines_.inject), update_.inject_infinity);
    if (settings_.has_scaler) launch(main.at(lines_.unscale), update_.unscale);
    if (settings_.clip_norm > 0) launch(main.at(lines_.clip), update_.clip);
    main.at(lines_.step);
    if (settings_.has_scaler && !settings_.fused) {
      main.add(program::ReadScalar{{update_.scaler.found_inf, update_.scaler.found_inf_on_host,
                                    kFloat, 0}},
               "aten::item");
      const auto skipped =
          static_cast<std::uint32_t>(2 * update_.temporaries.size() + update_.step.size());
      main.add(program::Branch{update_.scaler.found_inf_on_host, skipped});
    }
    write_optimizer(main);
    if (settings_.has_scaler) launch(main.at(lines_.update_scale), update_.update_scale);
    main.in(Phase::kNone);
    if (settings_.computes || settings_.has_scaler) main.add(program::LogStep{step, 0});
  }

  void write_optimizer(ThreadWriter& main) {
    allocate(main, update_.temporaries);
    const Index predicate =
        settings_.has_scaler && settings_.fused ? update_.scaler.found_inf : program::kNoIndex;
    for (const Index operation : update_.step) launch_one(main, operation, predicate);
    free(main, update_.temporaries);
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
    if (settings_.on_cpu) return main.at(lines_.item).add(program::FrameworkCall{}, "aten::item");
    main.at(lines_.item)
        .add(program::ReadScalar{{plan_of(batch).loss_value, loss_host_, kFloat, 0}}, "aten::item");
  }

  // ---- Evaluation -------------------------------------------------------------------------------

  void write_evaluation(ThreadWriter& main) {
    allocate(main.at(lines_.evaluate), {correct_});
    for (std::int64_t batch = 0; batch < tested_batches(); ++batch) {
      feed_->deliver_test(main.at(lines_.evaluate), batch);
      main.at(lines_.evaluate_forward).in(Phase::kForward);
      launch(main, evaluation_.forward);
      launch(main, evaluation_.loss);
      main.in(Phase::kNone);
    }
    main.at(lines_.accuracy).add(program::LogEvaluation{settings_.steps, 0});
    if (settings_.on_cpu) return main.add(program::FrameworkCall{}, "aten::item");
    main.add(program::ReadScalar{{correct_, correct_host_, kFloat, 0}}, "aten::item");
  }

  // ---- Kernels and memory, on the GPU or, without any of either, on the CPU
  // -----------------------

  MemoryKind memory() const {
    return settings_.on_cpu ? MemoryKind::kPageable : MemoryKind::kDevice;
  }

  std::vector<Index> gradients() const {
    std::vector<Index> there;
    for (const Index gradient : model_.gradients)
      if (gradient != program::kNoIndex) there.push_back(gradient);
    return there;
  }

  void allocate(ThreadWriter& thread, const std::vector<Index>& buffers) const {
    if (settings_.on_cpu) return;
    for (const Index buffer : buffers) thread.add(program::Alloc{buffer, 0});
  }
  void free(ThreadWriter& thread, const std::vector<Index>& buffers) const {
    if (settings_.on_cpu) return;
    for (const Index buffer : buffers) thread.add(program::Free{buffer});
  }

  void launch_one(ThreadWriter& thread, Index operation, Index predicate = program::kNoIndex,
                  bool same_operator = false) const {
    if (settings_.on_cpu) {
      thread.add(program::Compute{operation});
    } else {
      thread.add(program::Launch{operation, 0, predicate, same_operator});
    }
  }
  void launch(ThreadWriter& thread, const PlannedLaunch& one) {
    if (convolutions_) convolutions_->search(thread, one, 0);
    allocate(thread, one.allocated);
    launch_one(thread, one.operation, program::kNoIndex, one.same_operator);
    free(thread, one.freed);
  }
  void launch(ThreadWriter& thread, const std::vector<PlannedLaunch>& launches) {
    for (const PlannedLaunch& one : launches) launch(thread, one);
  }
  CompiledModel::Launch launcher() {
    return [this](ThreadWriter& thread, const PlannedLaunch& one) { launch(thread, one); };
  }
  void launch(ThreadWriter& thread, const Launches& launches) const {
    for (const Index operation : launches) launch_one(thread, operation);
  }

  const program::Config& config_;
  program::Program program_;
  TrainSettings settings_;
  Graph graph_;
  TrainLines lines_;
  std::optional<BatchFeed> feed_;
  ModelBuffers model_;
  PlanBuffers plan_buffers_{memory()};
  Update update_;
  std::optional<Convolutions> convolutions_;
  std::optional<CompiledModel> compiled_;
  std::optional<Ddp> ddp_;
  std::optional<DataParallel> dp_;
  bool frees_loss_ = false;             // the loop's body, and no launch
  std::vector<StepPlans> plans_;        // by batch on the device, or by size of its images
  std::vector<PlannedLaunch> resizes_;  // by size, where there are several
  Plan evaluation_;
  Index loss_host_ = 0, correct_ = 0, correct_host_ = 0;
  Index autograd_ = 0, backward_to_do_ = 0, backward_done_ = 0;
  bool gradients_there_ = false;
  bool state_there_ = false;
};

}  // namespace

program::Program build_train(const program::Config& config, const machine::Machine& machine) {
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
