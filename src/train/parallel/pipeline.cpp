#include "train/parallel/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "train/parallel/compute_stream.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;

constexpr const char* kSend = "c10d::send";
constexpr const char* kReceive = "c10d::recv_";
constexpr const char* kBothWays = "c10d::send, recv_";

}  // namespace

// ---- What there is -----------------------------------------------------------------------------

Pipeline::Pipeline(const PipelineParts& parts, int rank)
    : parts_(parts),
      rank_(rank),
      shape_{parts.settings.pipeline_ranks, parts.settings.stages_per_rank,
             parts.settings.micro_batches},
      exchanged_event_(parts.program.events++) {
  add_streams();
  add_groups();
  for (int stage = rank; stage < shape_.stages(); stage += shape_.ranks)
    stages_.emplace_back(parts_, stage, parts_.buffers[stages_.size()]);
  if (parts.settings.ddp) wrap_stages();
}

// batch_isend_irecv takes the device's stream, isend and irecv one of the two ranks
// (ProcessGroupNCCL::pointToPoint).
void Pipeline::add_streams() {
  const bool of_pairs =
      parts_.settings.interleaved && !parts_.config.flag("pipeline.batch_p2p_comm");
  std::vector<program::Stream>& streams = parts_.program.streams;
  const auto first = static_cast<Index>(streams.size());
  for (const int other : {round_before(), round_behind()}) {
    const auto [stream, is_new] = streams_.try_emplace(other, first);
    const auto there = static_cast<int>(streams.size() - first);
    if (!is_new || (there > 0 && !of_pairs)) continue;
    stream->second = static_cast<Index>(streams.size());
    streams.push_back(nccl_stream(0, there));
  }
}

// Every rank has all of them, in the same order: those of neighbours, of which the last sends to
// the first where there are stages behind its own, then those that sum what belongs to two stages.
// PyTorch has one communicator for all, of which two ranks at a time take part.
void Pipeline::add_groups() {
  for (int behind = 1; behind < shape_.ranks; ++behind) add_group(behind - 1, behind);
  if (shape_.stages_per_rank > 1 && shape_.ranks > 2) add_group(0, shape_.ranks - 1);
  for (const TiedParameter& tied : tied_parameters(parts_.model.stages)) add_tied(tied);
  sequences_.resize(parts_.program.communicators.size(), 0);
}

void Pipeline::add_group(int a, int b) {
  program::Communicator& group = add_communicator(parts_.program, parts_.config, 2);
  group.gpus = {a, b};
  if (parts_.settings.ranks > 1) {
    group.name = "pipeline pair";
    group.groups = parts_.settings.ranks;
    group.apart = shape_.ranks;
  } else {
    group.name = fmt::format("ranks {} and {}", a, b);
  }
  groups_.try_emplace({a, b}, static_cast<Index>(parts_.program.communicators.size() - 1));
}

void Pipeline::add_tied(const TiedParameter& tied) {
  program::Program& program = parts_.program;
  const auto [low, high] = std::minmax({rank_of(tied.first), rank_of(tied.second)});
  add_group(low, high);
  const bool has_first = rank_ == rank_of(tied.first);
  if (!has_first && rank_ != rank_of(tied.second)) return;
  const ModelBuffers& own = parts_.buffers[place_of(has_first ? tied.first : tied.second)];
  const Index gradient = own.gradients[has_first ? tied.in_first : tied.in_second];
  if (gradient == kNoIndex) return;
  program.payloads.push_back({gradient});
  tied_.push_back({static_cast<Index>(program.communicators.size() - 1),
                   static_cast<Index>(program.payloads.size() - 1),
                   program.buffers[gradient].bytes});
}

// All of a rank's stages sum with the same ranks. A module without parameters cannot be wrapped
// (torch/nn/parallel/distributed.py).
void Pipeline::wrap_stages() {
  replicas_.emplace(parts_.program, parts_.config, parts_.settings);
  sequences_.resize(parts_.program.communicators.size(), 0);
  ddp_.resize(stages_.size());
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Graph& graph = parts_.model.stages[static_cast<std::size_t>(stages_[i].stage())].graph;
    if (std::ranges::none_of(graph.parameters, &Parameter::trained))
      throw InputError(
          fmt::format("DistributedDataParallel wraps no module without parameters, and stage {} "
                      "has none; set pipeline.degree to fewer ranks, or 0",
                      stages_[i].stage()));
    ddp_[i] = std::make_unique<Ddp>(parts_.program, parts_.config, graph, parts_.buffers[i],
                                    std::vector<ParameterId>{}, *replicas_);
  }
}

void Pipeline::construct(ThreadWriter& main) {
  for (const auto& ddp : ddp_) ddp->construct(main);
}

double Pipeline::flops() const {
  double flops = 0;
  for (const StagePlans& stage : stages_) flops += stage.flops();
  return flops;
}

std::vector<Index> Pipeline::losses() const {
  return stages_.back().losses();
}

// ---- Sending and receiving ---------------------------------------------------------------------

void Pipeline::exchange(ThreadWriter& main, const Exchange& what) {
  if (what.with == kNobody) return;
  const Index payload = what.send != kNoIndex ? what.send : what.receive;
  program::Collective both;
  both.communicator = groups_.at(std::minmax(rank_, what.with));
  both.kind = program::CollectiveKind::kSendReceive;
  both.bytes = parts_.program.buffers[parts_.program.payloads[payload].front()].bytes;
  both.stream = streams_.at(what.with);
  both.after = kComputeStream;
  both.sequence = sequences_[both.communicator]++;
  both.send = what.send;
  both.receive = what.receive;
  main.add(both, what.name);
  main.add(program::RecordEvent{what.done, both.stream});
}

void Pipeline::wait(ThreadWriter& main, int with, Index event) {
  if (with != kNobody) main.add(program::StreamWait{kComputeStream, event});
}

// ---- A step ------------------------------------------------------------------------------------

void Pipeline::step(const StageThreads& threads, const LaunchWriter& launch, bool gradients_there) {
  ThreadWriter& main = threads.main.at(parts_.lines.forward);
  // Forwards under no_sync make buckets anew, and after the first one broadcast no buffers
  // (torch/nn/parallel/distributed.py, _pre_forward and _post_forward).
  // The last stage's first: so their sums follow one another.
  for (auto ddp = ddp_.rbegin(); ddp != ddp_.rend(); ++ddp)
    begun_ ? (*ddp)->rebuild_buckets(main) : (*ddp)->broadcast_buffers(main);
  if (!std::exchange(begun_, true))
    for (const StagePlans& stage : stages_) stage.allocate(main);
  for (StagePlans& stage : stages_) stage.begin(main, gradients_there);
  if (parts_.settings.interleaved) {
    interleaved(threads, launch);
  } else if (parts_.config.word("pipeline.schedule") == "gpipe") {
    gpipe(threads, launch);
  } else {
    one_forward_one_backward(threads, launch);
  }
  for (const StagePlans& stage : stages_) stage.end(main);
  finish_gradients(main, launch);
}

void Pipeline::forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i) {
  stages_.front().forward(main, launch, i, fmt::format("Forward {}", i));
}

void Pipeline::backward(const StageThreads& threads, const LaunchWriter& launch, std::size_t i) {
  const StagePlans& stage = stages_.front();
  stage.backward(threads, launch, i, fmt::format("Backward {}", i), ddp_of(stage));
}

// ScheduleGPipe._step_microbatches.
void Pipeline::gpipe(const StageThreads& threads, const LaunchWriter& launch) {
  ThreadWriter& main = threads.main;
  const StagePlans& stage = stages_.front();
  for (std::size_t i = 0; i < stage.count(); ++i) {
    const StagePlans::MicroBatch& micro = stage.micro_batch(i);
    exchange(main, {before(), kNoIndex, micro.input, exchanged_event_, kReceive});
    wait(main, before(), exchanged_event_);
    forward(main, launch, i);
    exchange(main, {behind(), micro.output, kNoIndex, micro.sent, kSend});
  }
  for (std::size_t i = 0; i < stage.count(); ++i) wait(main, behind(), stage.micro_batch(i).sent);
  for (std::size_t i = 0; i < stage.count(); ++i) {
    const StagePlans::MicroBatch& micro = stage.micro_batch(i);
    exchange(main, {behind(), kNoIndex, micro.output_gradient, exchanged_event_, kReceive});
    wait(main, behind(), exchanged_event_);
    backward(threads, launch, i);
    exchange(main, {before(), micro.input_gradient, kNoIndex, micro.sent_back, kSend});
  }
  for (std::size_t i = 0; i < stage.count(); ++i)
    wait(main, before(), stage.micro_batch(i).sent_back);
  for (std::size_t i = 0; i < stage.count(); ++i) stage.free_input_gradient(main, i);
}

// Schedule1F1B._step_microbatches. There are at least as many micro-batches as stages.
void Pipeline::one_forward_one_backward(const StageThreads& threads, const LaunchWriter& launch) {
  const auto warm_up = static_cast<std::size_t>(shape_.ranks - rank_);
  fill(threads.main, launch, warm_up);
  take_turns(threads, launch, warm_up);
  drain(threads, launch, stages_.front().count() - warm_up + 1);
}

// The output of the last forward is sent with what is received for the first backward.
void Pipeline::fill(ThreadWriter& main, const LaunchWriter& launch, std::size_t forwards) {
  const StagePlans& stage = stages_.front();
  for (std::size_t i = 0; i < forwards; ++i) {
    const StagePlans::MicroBatch& micro = stage.micro_batch(i);
    exchange(main, {before(), kNoIndex, micro.input, exchanged_event_, kReceive});
    wait(main, before(), exchanged_event_);
    forward(main, launch, i);
    if (i > 0) wait(main, behind(), stage.micro_batch(i - 1).sent);
    if (i + 1 < forwards) exchange(main, {behind(), micro.output, kNoIndex, micro.sent, kSend});
  }
}

// A backward, a forward, and so on, until the backward behind the last forward.
void Pipeline::take_turns(const StageThreads& threads, const LaunchWriter& launch,
                          std::size_t forwards) {
  ThreadWriter& main = threads.main;
  const StagePlans& stage = stages_.front();
  for (std::size_t i = 0; true; ++i, ++forwards) {
    const StagePlans::MicroBatch& micro = stage.micro_batch(i);
    const Index output = stage.micro_batch(forwards - 1).output;
    exchange(main, {behind(), output, micro.output_gradient, exchanged_event_, kBothWays});
    wait(main, behind(), exchanged_event_);
    backward(threads, launch, i);
    if (forwards == stage.count()) return;
    const Index input = stage.micro_batch(forwards).input;
    exchange(main, {before(), micro.input_gradient, input, exchanged_event_, kBothWays});
    wait(main, before(), exchanged_event_);
    stage.free_input_gradient(main, i);
    forward(main, launch, forwards);
  }
}

// The gradient of each backward is sent while the next one is at work.
void Pipeline::drain(const StageThreads& threads, const LaunchWriter& launch,
                     std::size_t backwards) {
  ThreadWriter& main = threads.main;
  const StagePlans& stage = stages_.front();
  for (std::size_t i = backwards; i <= stage.count(); ++i) {
    const StagePlans::MicroBatch& last = stage.micro_batch(i - 1);
    exchange(main, {before(), last.input_gradient, kNoIndex, last.sent_back, kSend});
    if (i < stage.count()) {
      const StagePlans::MicroBatch& micro = stage.micro_batch(i);
      exchange(main, {behind(), kNoIndex, micro.output_gradient, exchanged_event_, kReceive});
      wait(main, behind(), exchanged_event_);
      backward(threads, launch, i);
    }
    wait(main, before(), last.sent_back);
    stage.free_input_gradient(main, i - 1);
  }
}

// ---- Interleaved -------------------------------------------------------------------------------

// _PipelineScheduleRuntime._step_microbatches. Each send and each receive is a batch of its own,
// and they follow one another on the stream; a receive is waited for where it is read, sends at the
// end of the step, and until then they keep what they send.
void Pipeline::interleaved(const StageThreads& threads, const LaunchWriter& launch) {
  ThreadWriter& main = threads.main;
  for (const StageAction& action : order()) {
    const bool computes = action.work == StageWork::kForward ||
                          action.work == StageWork::kBackward ||
                          action.work == StageWork::kReduceGradients;
    if (computes) {
      compute(threads, launch, action);
    } else {
      main.add(program::BeginMark{}, mark_of(action));
      communicate(main, action);
      main.add(program::EndMark{});
    }
  }
  end_sends(main);
}

void Pipeline::compute(const StageThreads& threads, const LaunchWriter& launch,
                       const StageAction& action) {
  ThreadWriter& main = threads.main;
  const StagePlans& stage = own(action.stage);
  const auto i = static_cast<std::size_t>(action.micro_batch);
  if (action.work == StageWork::kReduceGradients) {
    main.add(program::BeginMark{}, mark_of(action));
    stage.divide_gradients(main, launch);
    main.add(program::EndMark{});
  } else if (action.work == StageWork::kForward) {
    if (!stage.is_first())
      main.add(program::StreamWait{kComputeStream, stage.micro_batch(i).received});
    stage.forward(main, launch, i, mark_of(action));
  } else {
    if (!stage.is_last())
      main.add(program::StreamWait{kComputeStream, stage.micro_batch(i).received_back});
    stage.backward(threads, launch, i, mark_of(action), ddp_of(stage));
  }
}

void Pipeline::communicate(ThreadWriter& main, const StageAction& action) {
  const StagePlans::MicroBatch& micro =
      own(action.stage).micro_batch(static_cast<std::size_t>(action.micro_batch));
  const int before = round_before(), behind = round_behind();
  switch (action.work) {
    case StageWork::kSendForward:
      return exchange(main, {behind, micro.output, kNoIndex, micro.sent, kSend});
    case StageWork::kReceiveForward:
      return exchange(main, {before, kNoIndex, micro.input, micro.received, kReceive});
    case StageWork::kSendBackward:
      return exchange(main, {before, micro.input_gradient, kNoIndex, micro.sent_back, kSend});
    case StageWork::kReceiveBackward:
      return exchange(main,
                      {behind, kNoIndex, micro.output_gradient, micro.received_back, kReceive});
    case StageWork::kForward:
    case StageWork::kBackward:
    case StageWork::kReduceGradients:
      return;
  }
}

// The last one first: send_ops.pop().
void Pipeline::end_sends(ThreadWriter& main) {
  for (auto one = order().rbegin(); one != order().rend(); ++one) {
    const StagePlans& stage = own(one->stage);
    const auto i = static_cast<std::size_t>(one->micro_batch);
    if (one->work == StageWork::kSendForward) {
      main.add(program::StreamWait{kComputeStream, stage.micro_batch(i).sent});
      stage.free_output(main, i);
    } else if (one->work == StageWork::kSendBackward) {
      main.add(program::StreamWait{kComputeStream, stage.micro_batch(i).sent_back});
      stage.free_input_gradient(main, i);
    }
  }
}

// A parameter of two stages: each has a part of its gradient. Interleaved, a stage's gradients are
// divided by then.
void Pipeline::finish_gradients(ThreadWriter& main, const LaunchWriter& launch) {
  if (!parts_.settings.interleaved) stages_.front().divide_gradients(main, launch);
  main.at(parts_.lines.tied);
  for (const Tied& tied : tied_) {
    program::Collective sum;
    sum.communicator = tied.communicator;
    sum.kind = program::CollectiveKind::kAllReduce;
    sum.bytes = tied.bytes;
    sum.stream = streams_.begin()->second;
    sum.after = kComputeStream;
    sum.sequence = sequences_[sum.communicator]++;
    sum.send = sum.receive = tied.payload;
    main.add(sum, "c10d::allreduce_");
    main.add(program::RecordEvent{exchanged_event_, sum.stream});
    main.add(program::StreamWait{kComputeStream, exchanged_event_});
  }
}

}  // namespace trainscope::train
