#include "train/loop/train_loop.h"

#include <cmath>

#include "program/marks.h"
#include "trace/step_mark.h"
#include "train/autograd/lifetimes.h"
#include "train/parallel/ranks.h"

namespace trainscope::train {

using program::Index;

void TrainLoop::write() {
  const TrainSettings& settings = parts_.settings;
  ThreadWriter main(parts_.program, 0), autograd(parts_.program, parts_.autograd.thread);
  const TrainingThreads threads{main, autograd};
  write_before_loop(main);
  const int alike = ranks_differ(parts_.config) ? settings.processes() : 1;
  StepRoom room(main, settings.steps, alike), autograd_room(autograd, settings.steps, alike);
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    main.at(parts_.lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    write_step(threads, step);
    main.at(parts_.lines.loop).add(program::EndMark{});
    if (settings.validation.follows(step)) parts_.validation->write(main, parts_.launch);
    room.after(step);
    autograd_room.after(step);
  }
  if (parts_.lines.end) main.at(parts_.lines.end).add(program::DeviceSync{});
  if (settings.evaluates) passes_.write_evaluation(main);
}

void TrainLoop::write_before_loop(ThreadWriter& main) {
  parts_.feed->move_set(main);
  main.at(parts_.lines.model);
  parts_.launch.allocate(main, (parts_.fsdp ? parts_.fsdp->shards() : parts_.model).parameters);
  if (parts_.ddp) parts_.ddp->construct(main.at(parts_.lines.ddp));
  if (parts_.pipeline && parts_.pipeline->is_wrapped())
    parts_.pipeline->construct(main.at(parts_.lines.ddp));
  parts_.feed->begin(main);
}

void TrainLoop::write_step(TrainingThreads threads, std::int64_t step) {
  const TrainSettings& settings = parts_.settings;
  const TrainLines& lines = parts_.lines;
  ThreadWriter& main = threads.main;
  if (!settings.prefetch && settings.accumulate == 1) parts_.feed->next(main, step);
  if (lines.empty_cache) main.at(lines.empty_cache).add(program::EmptyCache{});
  if (lines.timer_start) main.at(lines.timer_start).add(program::BeginMark{}, program::kTimerMark);
  if (settings.accumulate > 1) passes_.write_zero_grad(main);
  const std::int64_t first = step * settings.accumulate, last = first + settings.accumulate - 1;
  for (std::int64_t batch = first; batch <= last; ++batch) {
    write_batch(threads, batch);
    if (batch < last) free_loss(main, batch);
  }
  const bool has_loss = !parts_.part || parts_.part->has_last_stage();
  parts_.update_writer->write(main, step, (settings.computes && has_loss) || settings.has_scaler);
  write_step_end(main, step);
}

void TrainLoop::write_batch(TrainingThreads threads, std::int64_t batch) {
  const TrainSettings& settings = parts_.settings;
  if (settings.accumulate > 1) parts_.feed->next(threads.main.at(parts_.lines.next), batch);
  parts_.feed->deliver(threads.main, batch, settings.steps);
  passes_.write(threads, batch);
}

// What the loop's body does behind the update: of the step's last batch.
void TrainLoop::write_step_end(ThreadWriter& main, std::int64_t step) {
  const TrainSettings& settings = parts_.settings;
  const TrainLines& lines = parts_.lines;
  const std::int64_t last = (step + 1) * settings.accumulate - 1, every = settings.item_every;
  if (lines.sleep) write_sleep(main);
  if (every > 0 && step % every == every - 1) write_item(main.at(lines.item), last);
  if (lines.keep_loss) keep_loss(main, last);
  if (!settings.keeps_losses) free_loss(main, last);
  if (lines.sync) main.at(lines.sync).add(program::DeviceSync{});
  if (lines.timer_stop) main.at(lines.timer_stop).add(program::EndMark{});
}

void TrainLoop::free_loss(ThreadWriter& main, std::int64_t batch) const {
  if (parts_.plans && parts_.plans->leaves_loss())
    parts_.launch.free(main, {parts_.plans->of(batch).loss_value});
}

// losses.append(loss.item()), or the tensor: backward has freed what its graph had saved
// (PyTorch, tests/golden/kept_graphs.py), so it holds its own block alone.
void TrainLoop::keep_loss(ThreadWriter& main, std::int64_t batch) {
  if (parts_.settings.keeps_numbers) return write_item(main.at(parts_.lines.keep_loss), batch);
  if (parts_.settings.on_cpu) return;
  const Index kept =
      add_kept(parts_.program, parts_.plans->of(batch).loss_value, "a loss that is kept");
  main.at(parts_.lines.keep_loss);
  free_loss(main, batch);
  parts_.launch.allocate(main, {kept});
}

void TrainLoop::write_sleep(ThreadWriter& main) const {
  const double nanos = parts_.config.number("loop.sleep_ms") * double{kMillisecond};
  main.at(parts_.lines.sleep)
      .add(program::HostWork{std::llround(nanos), false, false}, "time.sleep");
}

void TrainLoop::write_item(ThreadWriter& main, std::int64_t batch) const {
  if (parts_.settings.on_cpu) return main.add(program::FrameworkCall{}, "aten::item");
  const Index loss = parts_.plans->of(batch).loss_value;
  main.add(program::ReadScalar{{loss, parts_.loss_on_host, parts_.program.buffers[loss].bytes, 0}},
           "aten::item");
}

}  // namespace trainscope::train
