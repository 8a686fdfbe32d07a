// One stage of a pipeline on its rank: the buffers and plans of its micro-batches, and how their
// forwards and backwards are launched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/kernels/convolutions.h"
#include "train/listing/train_listing.h"
#include "train/loop/launch_writer.h"
#include "train/model/graph.h"
#include "train/parallel/ddp.h"
#include "train/parallel/pipeline_model.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

// Of what a rank's program has already; all of it must outlive the pipeline.
struct PipelineParts {
  program::Program& program;
  const program::Config& config;
  const TrainSettings& settings;
  const TrainLines& lines;
  const PipelineModel& model;
  const std::vector<ModelBuffers>& buffers;  // of this rank's stages
  BatchBuffers batch;                        // whole, on the GPU
  Convolutions& convolutions;
};

// Backward is handed to autograd's thread by these queues.
struct StageThreads {
  ThreadWriter& main;
  ThreadWriter& autograd;
  program::Index backward_to_do = 0;
  program::Index backward_done = 0;
};

class StagePlans {
 public:
  // `buffers`: of this stage.
  StagePlans(const PipelineParts& parts, int stage, const ModelBuffers& buffers);

  struct MicroBatch {
    BatchBuffers batch;
    Plan first;                                 // whose gradients are the first
    std::optional<Plan> more;                   // adds them to those that are there
    program::Index input = program::kNoIndex;   // payloads: what comes from the stage before,
    program::Index output = program::kNoIndex;  // goes to the one behind,
    program::Index output_gradient = program::kNoIndex;  // comes back from there,
    program::Index input_gradient = program::kNoIndex;   // and goes back
    program::Index sent = 0;                             // events: the output is,
    program::Index sent_back = 0;                        // and the gradient of the input;
    program::Index received = 0;                         // the input is there,
    program::Index received_back = 0;                    // and the gradient of the output
  };

  int stage() const { return stage_; }
  bool is_first() const { return stage_ == 0; }
  bool is_last() const { return stage_ + 1 == static_cast<int>(parts_.model.stages.size()); }
  std::size_t count() const { return micro_batches_.size(); }
  const MicroBatch& micro_batch(std::size_t i) const { return micro_batches_[i]; }

  // Before the first step: memory for what is received.
  void allocate(ThreadWriter& main) const;
  // Begins a step. `there`: the gradients have memory.
  void begin(ThreadWriter& main, bool gradients_there);
  // Forward, and the loss where it is the last; between marks of that name, as backward.
  void forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i,
               const std::string& mark) const;
  // The output's gradient is there. The output is freed behind it, but in an interleaved pipeline:
  // there the send that is not waited for before the end of the step keeps it. `ddp`: of the
  // stage's module where several pipelines train it, which sums gradients in the last one's.
  void backward(const StageThreads& threads, const LaunchWriter& launch, std::size_t i,
                const std::string& mark, Ddp* ddp) const;
  // What forward gave, and what backward gives to the stage before; nothing where there is none.
  void free_output(ThreadWriter& main, std::size_t i) const;
  void free_input_gradient(ThreadWriter& main, std::size_t i) const;
  // stage.scale_grads: each parameter's p.grad.div_(n).
  void divide_gradients(ThreadWriter& main, const LaunchWriter& launch) const;
  // The copies of weights that autocast made.
  void end(ThreadWriter& main) const;

  double flops() const;  // of a step
  // Of each micro-batch; none but of the last stage.
  std::vector<program::Index> losses() const;

 private:
  const Plan& plan_of(std::size_t i) const;
  const Graph& graph() const { return parts_.model.stages[static_cast<std::size_t>(stage_)].graph; }
  std::string name_of_input(std::size_t i) const;
  void add_micro_batch(std::size_t i);
  BatchBuffers add_inputs(std::size_t i);
  program::Index add_part(program::Index whole, const std::string& name);
  program::Index add_payload(program::Index buffer);
  void add_divisions();
  void split_batch(ThreadWriter& main) const;
  static void launch_and_sum(ThreadWriter& autograd, const LaunchWriter& launch,
                             const std::vector<PlannedLaunch>& launches, Ddp& ddp);

  const PipelineParts& parts_;
  int stage_;
  const ModelBuffers& buffers_;
  bool gradients_there_ = false;
  std::vector<MicroBatch> micro_batches_;
  std::vector<program::Index> divisions_;  // operations, by gradient
};

}  // namespace trainscope::train
