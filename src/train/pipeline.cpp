#include "train/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "train/kernels.h"
#include "train/lifetimes.h"
#include "train/parallel.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;
using program::MemoryKind;
using program::Phase;
using program::Role;

constexpr Index kComputeStream = 0;
constexpr const char* kBothWays = "c10d::send, recv_";

TapeOptions options_of(const program::Config& config, const TrainSettings& settings) {
  TapeOptions options;
  options.precision = settings.precision;
  options.checkpoint = config.flag("checkpoint.enabled");
  return options;
}

double flops_of(const program::Program& program, const Plan& plan) {
  double flops = 0;
  for (const auto* list : {&plan.forward, &plan.loss, &plan.backward})
    for (const PlannedLaunch& launch : *list) flops += program.operations[launch.operation].flops;
  return flops;
}

}  // namespace

// ---- What there is -----------------------------------------------------------------------------

Pipeline::Pipeline(const Parts& parts, int rank)
    : parts_(parts),
      rank_(rank),
      graph_(parts.stages[static_cast<std::size_t>(rank)].graph),
      stream_(static_cast<Index>(parts.program.streams.size())),
      exchanged_event_(parts.program.events++) {
  parts_.program.streams.push_back(nccl_stream(0));
  add_groups();
  const auto count = static_cast<std::size_t>(parts_.settings.micro_batches);
  micro_batches_.resize(count);
  for (std::size_t i = 0; i < count; ++i) add_micro_batch(i);
  add_divisions();
}

// Every rank has all of them, in the same order: those of neighbours, then those that sum what
// belongs to two stages.
void Pipeline::add_groups() {
  program::Program& program = parts_.program;
  first_group_ = static_cast<Index>(program.communicators.size());
  const auto add = [&](std::size_t a, std::size_t b) {
    program::Communicator& group = add_communicator(program, parts_.config, 2);
    group.name = fmt::format("ranks {} and {}", a, b);
    group.gpus = {static_cast<int>(a), static_cast<int>(b)};
  };
  for (std::size_t behind = 1; behind < parts_.stages.size(); ++behind) add(behind - 1, behind);
  for (const TiedParameter& tied : tied_parameters(parts_.stages)) {
    add(tied.first, tied.second);
    const auto own = static_cast<std::size_t>(rank_);
    if (own != tied.first && own != tied.second) continue;
    const Index gradient =
        parts_.model.gradients[own == tied.first ? tied.in_first : tied.in_second];
    if (gradient == kNoIndex) continue;
    tied_.push_back({static_cast<Index>(program.communicators.size() - 1), add_payload(gradient),
                     program.buffers[gradient].bytes});
  }
  sequences_.resize(program.communicators.size(), 0);
}

Index Pipeline::add_payload(Index buffer) {
  parts_.program.payloads.push_back({buffer});
  return static_cast<Index>(parts_.program.payloads.size() - 1);
}

Index Pipeline::add_part(Index whole, const std::string& name) {
  const program::Buffer like = parts_.program.buffers[whole];
  const Index part =
      add_numbers(parts_.program, name, like.elements() / parts_.settings.micro_batches, like.type,
                  MemoryKind::kDevice, like.role);
  parts_.program.buffers[part].is_view = true;
  return part;
}

// What is received has memory of its own for each micro-batch, from the first step on.
BatchBuffers Pipeline::add_inputs(std::size_t i) {
  BatchBuffers batch;
  if (is_first()) {
    batch.x = add_part(parts_.batch.x, fmt::format("x of micro-batch {}", i));
  } else {
    batch.x =
        add_numbers(parts_.program, fmt::format("input of micro-batch {}", i), graph_.values[0],
                    parts_.input_type, MemoryKind::kDevice, Role::kActivation);
  }
  batch.y = is_last() ? add_part(parts_.batch.y, fmt::format("y of micro-batch {}", i)) : batch.x;
  return batch;
}

void Pipeline::add_micro_batch(std::size_t i) {
  program::Program& program = parts_.program;
  MicroBatch& micro = micro_batches_[i];
  micro.batch = add_inputs(i);
  TapeOptions options = options_of(parts_.config, parts_.settings);
  PlanBuffers buffers(MemoryKind::kDevice);
  const auto plan = [&] {
    Plan made = plan_stage(program, graph_, parts_.model, buffers, micro.batch, options,
                           {is_first(), is_last()});
    parts_.convolutions.expand(made);
    return made;
  };
  options.accumulate = i > 0;
  if (i > 0) options.weight_casts = micro_batches_.front().first.weight_casts;
  micro.first = plan();
  if (i == 0 && parts_.settings.gradients_stay) {
    options.accumulate = true;
    micro.more = plan();
  }
  micro.sent = program.events++;
  micro.sent_back = program.events++;
  if (!is_first()) {
    micro.input = add_payload(micro.batch.x);
    micro.input_gradient = add_payload(micro.first.input_gradient);
  }
  if (is_last()) return;
  micro.output = add_payload(micro.first.output);
  micro.output_gradient = add_payload(micro.first.output_gradient);
}

// stage.scale_grads: each parameter's p.grad.div_(n).
void Pipeline::add_divisions() {
  if (micro_batches_.size() == 1) return;
  program::Program& program = parts_.program;
  for (const Index gradient : parts_.model.gradients) {
    if (gradient == kNoIndex) continue;
    const program::Buffer like = program.buffers[gradient];
    const double share = 1.0 / static_cast<double>(micro_batches_.size());
    program.operations.push_back(make_operation(program, program::Multiply{like.elements(), share},
                                                like.type, {{gradient}, {gradient}}));
    program.operations.back().framework = "aten::div_";
    divisions_.push_back(static_cast<Index>(program.operations.size() - 1));
  }
}

const Plan& Pipeline::plan_of(std::size_t i) const {
  const MicroBatch& micro = micro_batches_[i];
  return micro.more && gradients_there_ ? *micro.more : micro.first;
}

double Pipeline::flops() const {
  double flops = 0;
  for (const MicroBatch& micro : micro_batches_) flops += flops_of(parts_.program, micro.first);
  for (const Index operation : divisions_) flops += parts_.program.operations[operation].flops;
  return flops;
}

program::ElementType Pipeline::output_type() const {
  const Index output = micro_batches_.front().first.output;
  return output == kNoIndex ? parts_.input_type : parts_.program.buffers[output].type;
}

std::vector<Index> Pipeline::losses() const {
  std::vector<Index> losses;
  if (!is_last()) return losses;
  for (const MicroBatch& micro : micro_batches_) losses.push_back(micro.first.loss_value);
  return losses;
}

// ---- Sending and receiving ---------------------------------------------------------------------

void Pipeline::exchange(ThreadWriter& main, const Exchange& what) {
  if (!has(what.with)) return;
  const std::size_t pair = static_cast<std::size_t>(rank_) - (what.with == kBefore ? 1 : 0);
  const Index payload = what.send != kNoIndex ? what.send : what.receive;
  program::Collective both;
  both.communicator = first_group_ + static_cast<Index>(pair);
  both.kind = program::CollectiveKind::kSendReceive;
  both.bytes = parts_.program.buffers[parts_.program.payloads[payload].front()].bytes;
  both.stream = stream_;
  both.after = kComputeStream;
  both.sequence = sequences_[both.communicator]++;
  both.send = what.send;
  both.receive = what.receive;
  main.add(both, what.name);
  main.add(program::RecordEvent{what.done, stream_});
}

void Pipeline::wait(ThreadWriter& main, Neighbour with, Index event) {
  if (has(with)) main.add(program::StreamWait{kComputeStream, event});
}

// ---- A step ------------------------------------------------------------------------------------

void Pipeline::begin(ThreadWriter& main) {
  for (const MicroBatch& micro : micro_batches_) {
    if (!is_first()) main.add(program::Alloc{micro.batch.x, kComputeStream});
    if (!is_last()) main.add(program::Alloc{micro.first.output_gradient, kComputeStream});
  }
}

// torch.tensor_split: views.
void Pipeline::split_batch(ThreadWriter& main) {
  if (!is_first() && !is_last()) return;
  main.add(program::FrameworkCall{}, "aten::tensor_split");
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    const auto place = [&](Index part) {
      return static_cast<std::int64_t>(i) * parts_.program.buffers[part].bytes;
    };
    const BatchBuffers& micro = micro_batches_[i].batch;
    if (is_first()) main.add(program::View{parts_.batch.x, micro.x, place(micro.x)});
    if (is_last()) main.add(program::View{parts_.batch.y, micro.y, place(micro.y)});
  }
}

void Pipeline::step(const Threads& threads, const LaunchWriter& launch, bool gradients_there) {
  ThreadWriter& main = threads.main.at(parts_.lines.forward);
  gradients_there_ = gradients_there;
  if (!std::exchange(begun_, true)) begin(main);
  split_batch(main);
  if (parts_.config.word("pipeline.schedule") == "gpipe") {
    gpipe(threads, launch);
  } else {
    one_forward_one_backward(threads, launch);
  }
  for (const auto& [parameter, copy] : plan_of(0).weight_casts) main.add(program::Free{copy});
  finish_gradients(main, launch);
}

void Pipeline::forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i) {
  const Plan& plan = plan_of(i);
  main.add(program::BeginMark{}, fmt::format("Forward {}", i));
  main.in(Phase::kForward);
  launch(main, plan.forward);
  if (is_last()) launch(main, plan.loss);
  main.in(Phase::kNone);
  main.add(program::EndMark{});
}

// The output's gradient is there, and the output's memory is given back behind backward.
void Pipeline::backward(const Threads& threads, const LaunchWriter& launch, std::size_t i) {
  const auto& [main, autograd, to_do, done] = threads;
  std::vector<PlannedLaunch> launches = plan_of(i).backward;
  if (i == 0 && !gradients_there_) {
    const std::vector<Index>& gradients = parts_.model.gradients;
    allocate_where_written(parts_.program, {gradients.begin(), gradients.end()}, launches);
  }
  main.add(program::BeginMark{}, fmt::format("Backward {}", i));
  main.add(program::Push{to_do, 0});
  autograd.at(parts_.lines.forward).in(Phase::kBackward).add(program::Pop{to_do});
  launch(autograd, launches);
  autograd.add(program::Push{done, 0});
  main.add(program::Pop{done}, "backward");
  if (!is_last()) main.add(program::Free{plan_of(i).output});
  main.add(program::EndMark{});
}

void Pipeline::free_input_gradient(ThreadWriter& main, std::size_t i) {
  if (!is_first()) main.add(program::Free{plan_of(i).input_gradient});
}

// ScheduleGPipe._step_microbatches.
void Pipeline::gpipe(const Threads& threads, const LaunchWriter& launch) {
  ThreadWriter& main = threads.main;
  const std::size_t count = micro_batches_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const MicroBatch& micro = micro_batches_[i];
    exchange(main, {kBefore, kNoIndex, micro.input, exchanged_event_, "c10d::recv_"});
    wait(main, kBefore, exchanged_event_);
    forward(main, launch, i);
    exchange(main, {kBehind, micro.output, kNoIndex, micro.sent, "c10d::send"});
  }
  for (const MicroBatch& micro : micro_batches_) wait(main, kBehind, micro.sent);
  for (std::size_t i = 0; i < count; ++i) {
    const MicroBatch& micro = micro_batches_[i];
    exchange(main, {kBehind, kNoIndex, micro.output_gradient, exchanged_event_, "c10d::recv_"});
    wait(main, kBehind, exchanged_event_);
    backward(threads, launch, i);
    exchange(main, {kBefore, micro.input_gradient, kNoIndex, micro.sent_back, "c10d::send"});
  }
  for (const MicroBatch& micro : micro_batches_) wait(main, kBefore, micro.sent_back);
  for (std::size_t i = 0; i < count; ++i) free_input_gradient(main, i);
}

// Schedule1F1B._step_microbatches. There are at least as many micro-batches as stages.
void Pipeline::one_forward_one_backward(const Threads& threads, const LaunchWriter& launch) {
  const std::size_t warm_up = parts_.stages.size() - static_cast<std::size_t>(rank_);
  fill(threads.main, launch, warm_up);
  take_turns(threads, launch, warm_up);
  drain(threads, launch, micro_batches_.size() - warm_up + 1);
}

// The output of the last forward is sent with what is received for the first backward.
void Pipeline::fill(ThreadWriter& main, const LaunchWriter& launch, std::size_t forwards) {
  for (std::size_t i = 0; i < forwards; ++i) {
    const MicroBatch& micro = micro_batches_[i];
    exchange(main, {kBefore, kNoIndex, micro.input, exchanged_event_, "c10d::recv_"});
    wait(main, kBefore, exchanged_event_);
    forward(main, launch, i);
    if (i > 0) wait(main, kBehind, micro_batches_[i - 1].sent);
    if (i + 1 < forwards)
      exchange(main, {kBehind, micro.output, kNoIndex, micro.sent, "c10d::send"});
  }
}

// A backward, a forward, and so on, until the backward behind the last forward.
void Pipeline::take_turns(const Threads& threads, const LaunchWriter& launch,
                          std::size_t forwards) {
  ThreadWriter& main = threads.main;
  for (std::size_t i = 0; true; ++i, ++forwards) {
    const MicroBatch& micro = micro_batches_[i];
    const Index output = micro_batches_[forwards - 1].output;
    exchange(main, {kBehind, output, micro.output_gradient, exchanged_event_, kBothWays});
    wait(main, kBehind, exchanged_event_);
    backward(threads, launch, i);
    if (forwards == micro_batches_.size()) return;
    const Index input = micro_batches_[forwards].input;
    exchange(main, {kBefore, micro.input_gradient, input, exchanged_event_, kBothWays});
    wait(main, kBefore, exchanged_event_);
    free_input_gradient(main, i);
    forward(main, launch, forwards);
  }
}

// The gradient of each backward is sent while the next one is at work.
void Pipeline::drain(const Threads& threads, const LaunchWriter& launch, std::size_t backwards) {
  ThreadWriter& main = threads.main;
  for (std::size_t i = backwards; i <= micro_batches_.size(); ++i) {
    const MicroBatch& last = micro_batches_[i - 1];
    exchange(main, {kBefore, last.input_gradient, kNoIndex, last.sent_back, "c10d::send"});
    if (i < micro_batches_.size()) {
      const MicroBatch& micro = micro_batches_[i];
      exchange(main, {kBehind, kNoIndex, micro.output_gradient, exchanged_event_, "c10d::recv_"});
      wait(main, kBehind, exchanged_event_);
      backward(threads, launch, i);
    }
    wait(main, kBefore, last.sent_back);
    free_input_gradient(main, i - 1);
  }
}

// A parameter of two stages: each has a part of its gradient.
void Pipeline::finish_gradients(ThreadWriter& main, const LaunchWriter& launch) {
  for (const Index operation : divisions_) launch.one(main, operation);
  main.at(parts_.lines.tied);
  for (const Tied& tied : tied_) {
    program::Collective sum;
    sum.communicator = tied.communicator;
    sum.kind = program::CollectiveKind::kAllReduce;
    sum.bytes = tied.bytes;
    sum.stream = stream_;
    sum.after = kComputeStream;
    sum.sequence = sequences_[sum.communicator]++;
    sum.send = sum.receive = tied.payload;
    main.add(sum, "c10d::allreduce_");
    main.add(program::RecordEvent{exchanged_event_, stream_});
    main.add(program::StreamWait{kComputeStream, exchanged_event_});
  }
}

}  // namespace trainscope::train
