// Tensor parallelism (torch.distributed.tensor.parallel): what it adds to a rank's program, whose
// model is cut (cut_layers.h, sequence_parallel.h, tape_ranks.cpp).
//
// Each rank computes with its part of the weights on the whole batch. What a pair of cut layers
// gives is a part of a sum, and in backward so is the gradient of what it reads: both are summed by
// an all-reduce over a stream of NCCL's, which the kernels behind it wait for. With sequence
// parallelism a reduce-scatter gives each rank its part of the sequence of such a sum, and an
// all-gather puts the whole together for the next pair.
//
// With tensor.degree the ranks that share a model are neighbours, and DistributedDataParallel sums
// the gradients of those that have the same part (ddp.h), or FSDP shares the part among them
// (fsdp.h): a mesh of two dimensions.
//
// All ranks do the same at the same time: one is simulated and stands for all.
#pragma once

#include <cstdint>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/loop/launch_writer.h"
#include "train/loop/update.h"
#include "train/parallel/functional_collectives.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class TensorParallel {
 public:
  // Adds the communicator of a group and its stream to a program.
  TensorParallel(program::Program& program, const program::Config& config,
                 const TrainSettings& settings);

  // A launch of a plan, or the collective that it is sent as.
  void run(ThreadWriter& thread, const PlannedLaunch& planned, const LaunchWriter& launch);
  // All of a plan.
  void run(ThreadWriter& thread, const std::vector<PlannedLaunch>& launches,
           const LaunchWriter& launch);

  // The sum of a number or gradient over the group, which has memory.
  void sum(ThreadWriter& main, const RankSum& numbers);

 private:
  void send(ThreadWriter& thread, const PlannedLaunch& planned, const LaunchWriter& launch);

  program::Program& program_;
  FunctionalCollectives collectives_;
  std::int64_t sequence_ = 0;
};

}  // namespace trainscope::train
