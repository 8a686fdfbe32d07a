#include "train/loop/pass_writer.h"

#include <cmath>
#include <utility>

#include "train/autograd/lifetimes.h"

namespace trainscope::train {

using program::Phase;

void PassWriter::write(TrainingThreads threads, std::int64_t batch) {
  const TrainSettings& settings = parts_.settings;
  const TrainLines& lines = parts_.lines;
  ThreadWriter& main = threads.main;
  const bool zero_inside = settings.accumulate == 1;
  if (zero_inside && settings.zero_first) write_zero_grad(main);
  if (batch == 0 && parts_.config.flag("loop.cold_start")) write_cublas_load(main);
  if (parts_.pipeline) {
    const AutogradThread& autograd = parts_.autograd;
    parts_.pipeline->step({main, threads.autograd, autograd.to_do, autograd.done}, parts_.launch,
                          gradients_there_);
    gradients_there_ = true;
    return;
  }
  const Plan& plan = parts_.plans->of(batch);
  const PlannedLaunch* resize = parts_.plans->resize(batch);
  if (resize) parts_.launch(main.at(lines.resize), *resize);
  write_forward(main, batch);
  write_loss(main.at(lines.loss), plan);
  main.in(Phase::kNone);
  if (zero_inside && !settings.zero_first) write_zero_grad(main);
  parts_.launch(main.at(lines.loss).in(Phase::kForward), plan.scale);
  main.in(Phase::kNone);
  write_backward(threads, plan, sums(batch));
  if (resize) parts_.launch.free(main.at(lines.resize), resize->allocated);
}

void PassWriter::write_forward(ThreadWriter& main, std::int64_t batch) {
  const Plan& plan = parts_.plans->of(batch);
  if (parts_.ddp && sums(batch)) parts_.ddp->before_forward(main.at(parts_.lines.forward));
  main.at(parts_.lines.forward).in(Phase::kForward);
  if (DataParallel* dp = parts_.plans->data_parallel()) {
    dp->forward(main, parts_.feed->of(batch));
  } else if (parts_.fsdp) {
    parts_.fsdp->forward(
        main, plan.forward,
        parts_.compiled ? parts_.compiled->forward_by_pieces(parts_.launch) : launch_or_sum());
  } else if (parts_.compiled) {
    parts_.compiled->forward(main, plan.forward, parts_.launch);
  } else if (parts_.tensor) {
    parts_.tensor->run(main, plan.forward, parts_.launch);
  } else {
    parts_.launch(main, plan.forward);
  }
  if (parts_.ddp && sums(batch)) parts_.ddp->search_unused(main);
}

// A launch, or what ranks that share layers out do instead.
WriteLaunch PassWriter::launch_or_sum() {
  if (!parts_.tensor) return parts_.launch;
  return [this](ThreadWriter& thread, const PlannedLaunch& planned) {
    parts_.tensor->run(thread, planned, parts_.launch);
  };
}

void PassWriter::write_loss(ThreadWriter& main, const Plan& plan) {
  parts_.tensor ? parts_.tensor->run(main, plan.loss, parts_.launch)
                : parts_.launch(main, plan.loss);
}

// Whether the batch's gradients are summed over all ranks.
bool PassWriter::sums(std::int64_t batch) const {
  const TrainSettings& settings = parts_.settings;
  return (settings.ddp || settings.fsdp) &&
         (!settings.no_sync || batch % settings.accumulate == settings.accumulate - 1);
}

void PassWriter::write_backward(TrainingThreads threads, const Plan& plan, bool sums) {
  auto& [main, autograd] = threads;
  const std::uint16_t line = parts_.lines.backward;
  if (parts_.settings.on_cpu) {  // on the thread that calls it (torch/csrc/autograd/engine.cpp)
    gradients_there_ = true;
    parts_.launch(main.at(line).in(Phase::kBackward), plan.backward);
    main.in(Phase::kNone);
    return;
  }
  main.at(line).add(program::Push{parts_.autograd.to_do, 0});
  autograd.at(line).in(Phase::kBackward).add(program::Pop{parts_.autograd.to_do});
  write_backward_on_gpu(autograd, plan, sums);
  gradients_there_ = true;
  autograd.add(program::Push{parts_.autograd.done, 0});
  main.add(program::Pop{parts_.autograd.done}, "backward");
}

void PassWriter::write_backward_on_gpu(ThreadWriter& autograd, const Plan& plan, bool sums) {
  std::vector<PlannedLaunch> launches = plan.backward;
  DataParallel* dp = parts_.plans->data_parallel();
  if (!gradients_there_ && !dp && !parts_.fsdp) allocate_gradients(autograd, launches);
  if (parts_.fsdp) {
    parts_.fsdp->backward(
        autograd, std::move(launches),
        parts_.compiled ? parts_.compiled->backward_by_pieces(parts_.launch) : launch_or_sum(),
        sums);
  } else if (sums) {
    launch_and_sum(autograd, launches);
  } else {
    launch_all(autograd, launches, [](std::size_t) {});
  }
  if (dp) dp->backward(autograd, plan.output_gradient, gradients_there_);
}

void PassWriter::launch_and_sum(ThreadWriter& autograd,
                                const std::vector<PlannedLaunch>& launches) {
  parts_.ddp->begin_backward(autograd, launches);
  launch_all(autograd, launches,
             [&](std::size_t launch) { parts_.ddp->after_launch(autograd, launch); });
  parts_.ddp->end_backward(autograd);
}

// Of a backward. `done`: after each, by its place.
void PassWriter::launch_all(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                            const CompiledModel::Done& done) {
  if (parts_.compiled) return parts_.compiled->backward(autograd, launches, parts_.launch, done);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (parts_.tensor)
      parts_.tensor->run(autograd, launches[i], parts_.launch);
    else
      parts_.launch(autograd, launches[i]);
    done(i);
  }
}

// Each where it is written first; those that a graph writes, once for all.
void PassWriter::allocate_gradients(ThreadWriter& autograd,
                                    std::vector<PlannedLaunch>& launches) const {
  if (parts_.settings.compile.cuda_graph)
    return parts_.launch.allocate(autograd, parts_.gradients());
  if (parts_.gradients_are_views()) return;
  allocate_where_written(parts_.program,
                         {parts_.model.gradients.begin(), parts_.model.gradients.end()}, launches);
}

void PassWriter::write_zero_grad(ThreadWriter& main) {
  if (parts_.settings.zero_never) return;
  main.at(parts_.lines.zero_grad).add(program::FrameworkCall{}, "zero_grad");
  if (!gradients_there_) return;
  if (parts_.settings.compile.cuda_graph) return;  // their memory is the graph's
  if (!parts_.config.flag("zero_grad.set_to_none"))
    return parts_.launch(main, parts_.update.zero_grad);
  gradients_there_ = false;
  if (parts_.fsdp) return parts_.fsdp->drop_gradients(main);
  if (!parts_.gradients_are_views()) parts_.launch.free(main, parts_.gradients());
}

void PassWriter::write_cublas_load(ThreadWriter& main) const {
  const double load_ms = parts_.config.number("loop.cublas_load_ms");
  const auto load = std::llround(load_ms * static_cast<double>(kMillisecond));
  main.at(parts_.lines.forward).add(program::HostWork{load, false, true, true}, "load cuBLAS");
}

void PassWriter::write_evaluation(ThreadWriter& main) {
  const auto& [plan, correct, correct_on_host] = parts_.plans->evaluation();
  const TrainLines& lines = parts_.lines;
  parts_.launch.allocate(main.at(lines.evaluate), {correct});
  for (std::int64_t batch = 0; batch < parts_.tested_batches(); ++batch) {
    parts_.feed->deliver_test(main.at(lines.evaluate), batch);
    main.at(lines.evaluate_forward).in(Phase::kForward);
    if (parts_.fsdp) {
      parts_.fsdp->forward(main, plan.forward, parts_.launch);
    } else {
      parts_.launch(main, plan.forward);
    }
    parts_.launch(main, plan.loss);
    main.in(Phase::kNone);
  }
  main.at(lines.accuracy).add(program::LogEvaluation{parts_.settings.steps, 0});
  if (parts_.settings.on_cpu) return main.add(program::FrameworkCall{}, "aten::item");
  const std::int64_t bytes = parts_.program.buffers[correct].bytes;
  main.add(program::ReadScalar{{correct, correct_on_host, bytes, 0}}, "aten::item");
}

}  // namespace trainscope::train
