// Writes the classroom loop: what each host thread of a training process does, step after step,
// and the evaluation behind the last.
#pragma once

#include "train/loop/pass_writer.h"
#include "train/train_parts.h"
#include "train/writer.h"

namespace trainscope::train {

class TrainLoop {
 public:
  // `parts` outlives it.
  explicit TrainLoop(TrainParts& parts) : parts_(parts), passes_(parts) {}

  // All commands of the parts' program, once. Throws InputError where they would be more than a
  // machine has room for.
  void write();

 private:
  void write_before_loop(ThreadWriter& main);
  void write_step(TrainingThreads threads, std::int64_t step);
  void write_batch(TrainingThreads threads, std::int64_t batch);
  void write_step_end(ThreadWriter& main, std::int64_t step);
  void free_loss(ThreadWriter& main, std::int64_t batch) const;
  void keep_loss(ThreadWriter& main, std::int64_t batch);
  void write_sleep(ThreadWriter& main) const;
  void write_item(ThreadWriter& main, std::int64_t batch) const;

  TrainParts& parts_;
  PassWriter passes_;
};

}  // namespace trainscope::train
