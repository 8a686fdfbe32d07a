// What a program of the workload `train` consists of before its first command is written: settings,
// the model as a graph, its buffers, and the writers of what a strategy, a compiler or a validation
// adds. Those that write the loop (train_loop.h, pass_writer.h) share them.
#pragma once

#include <optional>
#include <vector>

#include "machine/machine.h"
#include "program/config.h"
#include "program/program.h"
#include "train/compile/compiled_model.h"
#include "train/kernels/convolutions.h"
#include "train/listing/train_listing.h"
#include "train/loop/batch_feed.h"
#include "train/loop/launch_writer.h"
#include "train/loop/train_plans.h"
#include "train/loop/update.h"
#include "train/loop/update_writer.h"
#include "train/loop/validation_loop.h"
#include "train/model/graph.h"
#include "train/parallel/ddp.h"
#include "train/parallel/fsdp.h"
#include "train/parallel/pipeline.h"
#include "train/parallel/pipeline_model.h"
#include "train/parallel/tensor_parallel.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// One rank of a pipeline.
struct PipelineRank {
  const PipelineModel& model;
  int rank = 0;  // of its pipeline
  int ranks = 1;

  bool has_first_stage() const { return rank == 0; }
  bool has_last_stage() const { return rank + 1 == ranks; }
};

// Where backward runs: a thread, and the queues by which loss.backward() hands it the work and
// waits. On a CPU, the training thread, and no queue.
struct AutogradThread {
  program::Index thread = 0;
  program::Index to_do = 0;
  program::Index done = 0;
};

// Some refer to others, so it stays where it is made.
struct TrainParts {
  // `part`: of a pipeline, what one rank has of it; else one process, with all that it trains.
  // `config` and the machine outlive this. Throws InputError for a config that cannot run.
  TrainParts(const program::Config& config, const machine::Machine& machine,
             const std::optional<PipelineRank>& part);
  TrainParts(const TrainParts&) = delete;
  TrainParts& operator=(const TrainParts&) = delete;

  // Of what the optimizer updates.
  std::vector<program::Index> gradients() const;
  // Gradients are parts of DistributedDataParallel's buckets.
  bool gradients_are_views() const;
  // Batches of the test set that are whole.
  std::int64_t tested_batches() const { return settings.data.test_samples / settings.batch; }

  const program::Config& config;
  const machine::Gpu& gpu;
  program::Program program;
  TrainSettings settings;
  Graph graph;
  std::optional<PipelineRank> part;
  std::optional<Convolutions> convolutions;  // none on a CPU
  LaunchWriter launch;
  TrainLines lines;
  std::optional<BatchFeed> feed;  // always there
  program::Index loss_on_host = 0;
  ModelBuffers model;
  std::vector<ModelBuffers> stage_buffers;  // of a pipeline; the model's are these together
  std::optional<TensorParallel> tensor;
  std::optional<Fsdp> fsdp;
  Update update;
  std::optional<UpdateWriter> update_writer;  // always there
  std::optional<CompiledModel> compiled;
  std::optional<Pipeline> pipeline;  // this or plans
  std::optional<TrainPlans> plans;
  std::optional<DdpGroup> replicas;
  std::optional<Ddp> ddp;
  std::optional<ValidationLoop> validation;
  AutogradThread autograd;

 private:
  Convolutions* convolutions_on_gpu();
  void add_threads_and_streams();
  void add_model();
  void add_update();
  void add_plans();
  void add_validation();
  void add_autograd_thread();
};

}  // namespace trainscope::train
