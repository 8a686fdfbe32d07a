// Pipeline parallelism (torch.distributed.pipelining): what it adds to the program of one rank,
// which has one stage of the model (schedules.py, stage.py and _backward.py there).
//
// A batch is cut into micro-batches. Each goes through the stages, every rank receiving what the
// rank before it sends, and its gradients come back the same way. ScheduleGPipe has all forwards
// before the first backward; Schedule1F1B begins a micro-batch's backward as soon as its gradient
// can be there, so that a rank keeps the activations of as many micro-batches as there are stages
// from its own on, instead of all. Gradients are summed over the micro-batches, and divided by
// their number at the end.
//
// What is sent goes over one stream a rank, in the order in which its operators are called; what is
// sent and what is received at once is one kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/convolutions.h"
#include "train/graph.h"
#include "train/launch_writer.h"
#include "train/stages.h"
#include "train/tape.h"
#include "train/train_listing.h"
#include "train/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class Pipeline {
 public:
  // Of what a rank's program has already; all of it must outlive the pipeline.
  struct Parts {
    program::Program& program;
    const program::Config& config;
    const TrainSettings& settings;
    const TrainLines& lines;
    const std::vector<Stage>& stages;  // of all ranks
    const ModelBuffers& model;         // of this rank's stage
    BatchBuffers batch;                // whole, on the GPU
    program::ElementType input_type;   // of what comes from the rank before
    Convolutions& convolutions;
  };
  Pipeline(const Parts& parts, int rank);

  // schedule.step(): every micro-batch's forward and backward. `there`: the gradients have memory.
  // Backward is handed to autograd's thread by these queues.
  struct Threads {
    ThreadWriter& main;
    ThreadWriter& autograd;
    program::Index backward_to_do = 0;
    program::Index backward_done = 0;
  };
  void step(const Threads& threads, const LaunchWriter& launch, bool gradients_there);

  double flops() const;  // of a step
  // Of what goes to the rank behind.
  program::ElementType output_type() const;
  // Of each micro-batch; none but on the last rank.
  std::vector<program::Index> losses() const;

 private:
  struct MicroBatch {
    BatchBuffers batch;
    Plan first;                                 // whose gradients are the first
    std::optional<Plan> more;                   // adds them to those that are there
    program::Index input = program::kNoIndex;   // payloads: what comes from the rank before,
    program::Index output = program::kNoIndex;  // goes to the one behind,
    program::Index output_gradient = program::kNoIndex;  // comes back from there,
    program::Index input_gradient = program::kNoIndex;   // and goes back
    program::Index sent = 0;                             // events: the output is,
    program::Index sent_back = 0;                        // and the gradient of the input
  };
  enum Neighbour : std::uint8_t { kBefore, kBehind };

  bool is_first() const { return rank_ == 0; }
  bool is_last() const { return rank_ + 1 == static_cast<int>(parts_.stages.size()); }
  const Plan& plan_of(std::size_t i) const;

  void add_groups();
  void add_micro_batch(std::size_t i);
  BatchBuffers add_inputs(std::size_t i);
  program::Index add_part(program::Index whole, const std::string& name);
  program::Index add_payload(program::Index buffer);
  void add_divisions();
  void begin(ThreadWriter& main);

  void gpipe(const Threads& threads, const LaunchWriter& launch);
  void one_forward_one_backward(const Threads& threads, const LaunchWriter& launch);
  void fill(ThreadWriter& main, const LaunchWriter& launch, std::size_t forwards);
  void take_turns(const Threads& threads, const LaunchWriter& launch, std::size_t forwards);
  void drain(const Threads& threads, const LaunchWriter& launch, std::size_t backwards);
  void split_batch(ThreadWriter& main);
  void forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i);
  void backward(const Threads& threads, const LaunchWriter& launch, std::size_t i);
  // Sends and receives with a neighbour, at once; kNoIndex: not that. Nothing where there is none.
  struct Exchange {
    Neighbour with = kBefore;
    program::Index send = program::kNoIndex;
    program::Index receive = program::kNoIndex;
    program::Index done = 0;  // event
    const char* name = "";
  };
  void exchange(ThreadWriter& main, const Exchange& what);
  void wait(ThreadWriter& main, Neighbour with, program::Index event);
  void free_input_gradient(ThreadWriter& main, std::size_t i);
  void finish_gradients(ThreadWriter& main, const LaunchWriter& launch);
  bool has(Neighbour with) const { return with == kBefore ? !is_first() : !is_last(); }

  Parts parts_;
  int rank_;
  const Graph& graph_;
  bool begun_ = false;
  bool gradients_there_ = false;
  program::Index stream_ = 0;            // of NCCL
  program::Index exchanged_event_ = 0;   // what is waited for at once
  std::vector<std::int64_t> sequences_;  // by communicator
  program::Index first_group_ = 0;       // that of ranks 0 and 1
  std::vector<MicroBatch> micro_batches_;
  std::vector<program::Index> divisions_;  // operations, by gradient
  struct Tied {
    program::Index communicator = 0;
    program::Index payload = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Tied> tied_;
};

}  // namespace trainscope::train
