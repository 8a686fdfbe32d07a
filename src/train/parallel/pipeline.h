// Pipeline parallelism (torch.distributed.pipelining): what it adds to the program of one rank,
// which has one stage of the model, or several (schedules.py, stage.py and _backward.py there).
//
// A batch is cut into micro-batches. Each goes through the stages, every rank receiving what the
// rank before it sends, and its gradients come back the same way. ScheduleGPipe has all forwards
// before the first backward; Schedule1F1B begins a micro-batch's backward as soon as its gradient
// can be there, so that a rank keeps the activations of as many micro-batches as there are stages
// from its own on, instead of all. ScheduleInterleaved1F1B does so with several stages a rank
// (interleaved_order.h). Gradients are summed over the micro-batches, and divided by their number
// at the end.
//
// What is sent goes over one stream a rank, in the order in which its operators are called; what is
// sent and what is received at once is one kernel. So a send waits for a receive before it, which
// waits for another rank: interleaved, that is a good part of the bubble, and without
// pipeline.batch_p2p_comm each two ranks have a stream of their own.
//
// With pipeline.degree there are several pipelines, each of neighbours, and ranks that have the
// same stages sum gradients: the module of each stage is wrapped in DistributedDataParallel
// (ddp.h). Every forward is under its no_sync, and so is every backward but the last micro-batch's
// (stage.py, forward_maybe_with_nosync and backward_maybe_with_nosync). What that backward gives to
// the stage before is sent once the sums are done, for they are waited for at its end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "program/program.h"
#include "train/loop/launch_writer.h"
#include "train/parallel/ddp.h"
#include "train/parallel/interleaved_order.h"
#include "train/parallel/stage_plans.h"
#include "train/writer.h"

namespace trainscope::train {

class Pipeline {
 public:
  Pipeline(const PipelineParts& parts, int rank);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Whether there are others that have the same stages, which are wrapped then.
  bool is_wrapped() const { return !ddp_.empty(); }
  // Gradients are parts of their buckets and have no memory of their own.
  bool gradients_are_views() const { return is_wrapped() && ddp_.front()->gradients_are_views(); }
  // stage.submod = DistributedDataParallel(stage.submod), for each stage.
  void construct(ThreadWriter& main);

  // schedule.step(): every micro-batch's forward and backward. `there`: the gradients have memory.
  void step(const StageThreads& threads, const LaunchWriter& launch, bool gradients_there);

  double flops() const;  // of a step
  // Of each micro-batch; none but on the last rank.
  std::vector<program::Index> losses() const;

 private:
  static constexpr int kNobody = -1;
  int before() const { return rank_ > 0 ? rank_ - 1 : kNobody; }
  int behind() const { return rank_ + 1 < parts_.settings.pipeline_ranks ? rank_ + 1 : kNobody; }
  // Where the last rank comes before the first.
  int round_before() const { return (rank_ + shape_.ranks - 1) % shape_.ranks; }
  int round_behind() const { return (rank_ + 1) % shape_.ranks; }
  // The rank that has a stage, and which it is of that rank's.
  int rank_of(std::size_t stage) const { return shape_.rank_of(static_cast<int>(stage)); }
  std::size_t place_of(std::size_t stage) const {
    return stage / static_cast<std::size_t>(shape_.ranks);
  }
  const StagePlans& own(int stage) const {
    return stages_[place_of(static_cast<std::size_t>(stage))];
  }
  Ddp* ddp_of(const StagePlans& stage) const {
    return is_wrapped() ? ddp_[place_of(static_cast<std::size_t>(stage.stage()))].get() : nullptr;
  }

  const std::vector<StageAction>& order() const {
    return parts_.model.schedule[static_cast<std::size_t>(rank_)];
  }

  void add_streams();
  void add_groups();
  void add_group(int a, int b);
  void add_tied(const TiedParameter& tied);
  void wrap_stages();

  void gpipe(const StageThreads& threads, const LaunchWriter& launch);
  void one_forward_one_backward(const StageThreads& threads, const LaunchWriter& launch);
  void fill(ThreadWriter& main, const LaunchWriter& launch, std::size_t forwards);
  void take_turns(const StageThreads& threads, const LaunchWriter& launch, std::size_t forwards);
  void drain(const StageThreads& threads, const LaunchWriter& launch, std::size_t backwards);
  void forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i);
  void backward(const StageThreads& threads, const LaunchWriter& launch, std::size_t i);
  void interleaved(const StageThreads& threads, const LaunchWriter& launch);
  void compute(const StageThreads& threads, const LaunchWriter& launch, const StageAction& action);
  void communicate(ThreadWriter& main, const StageAction& action);
  void end_sends(ThreadWriter& main);

  // Sends and receives with another rank, at once; kNoIndex: not that. Nothing with nobody.
  struct Exchange {
    int with = kNobody;
    program::Index send = program::kNoIndex;
    program::Index receive = program::kNoIndex;
    program::Index done = 0;  // event
    const char* name = "";
  };
  void exchange(ThreadWriter& main, const Exchange& what);
  static void wait(ThreadWriter& main, int with, program::Index event);
  void finish_gradients(ThreadWriter& main, const LaunchWriter& launch);

  PipelineParts parts_;
  int rank_;
  InterleavedShape shape_;
  bool begun_ = false;
  std::optional<DdpGroup> replicas_;       // ranks of other pipelines that have the same stages
  std::vector<std::unique_ptr<Ddp>> ddp_;  // by stage of this rank; none of a pipeline alone
  std::map<int, program::Index> streams_;  // of NCCL, by the other rank
  program::Index exchanged_event_ = 0;     // what is waited for at once
  std::vector<std::int64_t> sequences_;    // by communicator
  std::map<std::pair<int, int>, program::Index> groups_;  // communicators, by their two ranks
  std::vector<StagePlans> stages_;                        // of this rank
  struct Tied {
    program::Index communicator = 0;
    program::Index payload = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Tied> tied_;
};

}  // namespace trainscope::train
