// Writes the passes of the training loop, a batch at a time: forward, loss and backward, each by
// the strategy, the compiler and the layout of layers that a program has; and the life of gradients
// from backward to zero_grad.
#pragma once

#include <cstddef>
#include <vector>

#include "train/train_parts.h"
#include "train/writer.h"

namespace trainscope::train {

// The two threads of a training process; on a CPU, one thread twice.
struct TrainingThreads {
  ThreadWriter& main;
  ThreadWriter& autograd;
};

class PassWriter {
 public:
  // `parts` outlives it.
  explicit PassWriter(TrainParts& parts) : parts_(parts) {}

  // From zero_grad, where it stands inside, to the batch's backward; of a pipeline, all of a step's
  // micro-batches.
  void write(TrainingThreads threads, std::int64_t batch);
  // zero_grad(set_to_none=True): the gradients' memory is free until backward makes new ones.
  void write_zero_grad(ThreadWriter& main);
  // Forward and loss of the test set's batches, one after another, and the accuracy.
  void write_evaluation(ThreadWriter& main);

 private:
  void write_forward(ThreadWriter& main, std::int64_t batch);
  void write_loss(ThreadWriter& main, const Plan& plan);
  void write_backward(TrainingThreads threads, const Plan& plan, bool sums);
  void write_backward_on_gpu(ThreadWriter& autograd, const Plan& plan, bool sums);
  void launch_and_sum(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches);
  void launch_all(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                  const CompiledModel::Done& done);
  void allocate_gradients(ThreadWriter& autograd, std::vector<PlannedLaunch>& launches) const;
  void write_cublas_load(ThreadWriter& main) const;
  WriteLaunch launch_or_sum();
  bool sums(std::int64_t batch) const;

  TrainParts& parts_;
  bool gradients_there_ = false;
};

}  // namespace trainscope::train
