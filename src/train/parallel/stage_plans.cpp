#include "train/parallel/stage_plans.h"

#include <fmt/format.h>

#include "train/autograd/lifetimes.h"
#include "train/kernels/kernels.h"
#include "train/model/model_flops.h"
#include "train/parallel/compute_stream.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;
using program::MemoryKind;
using program::Phase;
using program::Role;

double flops_of(const program::Program& program, const Plan& plan) {
  double flops = 0;
  for (const auto* list : {&plan.forward, &plan.loss, &plan.backward})
    for (const PlannedLaunch& launch : *list)
      flops += counted_flops(program.operations[launch.operation]);
  return flops;
}

}  // namespace

// ---- What there is -----------------------------------------------------------------------------

StagePlans::StagePlans(const PipelineParts& parts, int stage, const ModelBuffers& buffers)
    : parts_(parts), stage_(stage), buffers_(buffers) {
  const auto count = static_cast<std::size_t>(parts_.settings.micro_batches);
  micro_batches_.resize(count);
  for (std::size_t i = 0; i < count; ++i) add_micro_batch(i);
  add_divisions();
}

// A rank with several stages has several inputs of each micro-batch.
std::string StagePlans::name_of_input(std::size_t i) const {
  if (parts_.settings.stages_per_rank == 1) return fmt::format("input of micro-batch {}", i);
  return fmt::format("input of stage {}, micro-batch {}", stage_, i);
}

Index StagePlans::add_payload(Index buffer) {
  parts_.program.payloads.push_back({buffer});
  return static_cast<Index>(parts_.program.payloads.size() - 1);
}

Index StagePlans::add_part(Index whole, const std::string& name) {
  const program::Buffer like = parts_.program.buffers[whole];
  const Index part =
      add_numbers(parts_.program, name, like.elements() / parts_.settings.micro_batches, like.type,
                  MemoryKind::kDevice, like.role);
  parts_.program.buffers[part].is_view = true;
  return part;
}

// What is received has memory of its own for each micro-batch, from the first step on.
BatchBuffers StagePlans::add_inputs(std::size_t i) {
  BatchBuffers batch;
  if (is_first()) {
    batch.x = add_part(parts_.batch.x, fmt::format("x of micro-batch {}", i));
  } else {
    batch.x = add_numbers(parts_.program, name_of_input(i), graph().values[0],
                          parts_.model.read_types[static_cast<std::size_t>(stage_)],
                          MemoryKind::kDevice, Role::kActivation);
  }
  batch.y = is_last() ? add_part(parts_.batch.y, fmt::format("y of micro-batch {}", i)) : batch.x;
  return batch;
}

void StagePlans::add_micro_batch(std::size_t i) {
  program::Program& program = parts_.program;
  MicroBatch& micro = micro_batches_[i];
  micro.batch = add_inputs(i);
  TapeOptions options = stage_options(parts_.settings);
  PlanBuffers buffers(MemoryKind::kDevice);
  const auto plan = [&] {
    Plan made = plan_stage(program, graph(), buffers_, buffers, micro.batch, options,
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
  for (Index* event : {&micro.sent, &micro.sent_back, &micro.received, &micro.received_back})
    *event = program.events++;
  if (!is_first()) {
    micro.input = add_payload(micro.batch.x);
    micro.input_gradient = add_payload(micro.first.input_gradient);
  }
  if (is_last()) return;
  micro.output = add_payload(micro.first.output);
  micro.output_gradient = add_payload(micro.first.output_gradient);
}

void StagePlans::add_divisions() {
  if (micro_batches_.size() == 1) return;
  program::Program& program = parts_.program;
  for (const Index gradient : buffers_.gradients) {
    if (gradient == kNoIndex) continue;
    const program::Buffer like = program.buffers[gradient];
    const double share = 1.0 / static_cast<double>(micro_batches_.size());
    program.operations.push_back(make_operation(program, program::Multiply{like.elements(), share},
                                                like.type, {{gradient}, {gradient}}));
    program.operations.back().framework = "aten::div_";
    divisions_.push_back(static_cast<Index>(program.operations.size() - 1));
  }
}

const Plan& StagePlans::plan_of(std::size_t i) const {
  const MicroBatch& micro = micro_batches_[i];
  return micro.more && gradients_there_ ? *micro.more : micro.first;
}

double StagePlans::flops() const {
  double flops = 0;
  for (const MicroBatch& micro : micro_batches_) flops += flops_of(parts_.program, micro.first);
  for (const Index operation : divisions_) flops += parts_.program.operations[operation].flops;
  return flops;
}

std::vector<Index> StagePlans::losses() const {
  std::vector<Index> losses;
  if (!is_last()) return losses;
  for (const MicroBatch& micro : micro_batches_) losses.push_back(micro.first.loss_value);
  return losses;
}

// ---- A step ------------------------------------------------------------------------------------

void StagePlans::allocate(ThreadWriter& main) const {
  for (const MicroBatch& micro : micro_batches_) {
    if (!is_first()) main.add(program::Alloc{micro.batch.x, kComputeStream});
    if (!is_last()) main.add(program::Alloc{micro.first.output_gradient, kComputeStream});
  }
}

void StagePlans::begin(ThreadWriter& main, bool gradients_there) {
  gradients_there_ = gradients_there;
  split_batch(main);
}

// torch.tensor_split: views.
void StagePlans::split_batch(ThreadWriter& main) const {
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

void StagePlans::forward(ThreadWriter& main, const LaunchWriter& launch, std::size_t i,
                         const std::string& mark) const {
  const Plan& plan = plan_of(i);
  main.add(program::BeginMark{}, mark);
  main.in(Phase::kForward);
  launch(main, plan.forward);
  if (is_last()) launch(main, plan.loss);
  main.in(Phase::kNone);
  main.add(program::EndMark{});
}

// As with DistributedDataParallel alone: its hooks run as gradients are there, and what is behind
// this backward waits for the sums.
void StagePlans::launch_and_sum(ThreadWriter& autograd, const LaunchWriter& launch,
                                const std::vector<PlannedLaunch>& launches, Ddp& ddp) {
  ddp.begin_backward(autograd, launches);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launch(autograd, launches[i]);
    ddp.after_launch(autograd, i);
  }
  ddp.end_backward(autograd);
}

// stage.backward_maybe_with_nosync.
void StagePlans::backward(const StageThreads& threads, const LaunchWriter& launch, std::size_t i,
                          const std::string& mark, Ddp* ddp) const {
  const auto& [main, autograd, to_do, done] = threads;
  std::vector<PlannedLaunch> launches = plan_of(i).backward;
  if (i == 0 && !gradients_there_ && !(ddp && ddp->gradients_are_views()))
    allocate_where_written(parts_.program, {buffers_.gradients.begin(), buffers_.gradients.end()},
                           launches);
  main.add(program::BeginMark{}, mark);
  if (ddp && i + 1 == count()) ddp->search_unused(main);
  main.add(program::Push{to_do, 0});
  autograd.at(parts_.lines.forward).in(Phase::kBackward).add(program::Pop{to_do});
  if (ddp && i + 1 == count()) {
    launch_and_sum(autograd, launch, launches, *ddp);
  } else {
    launch(autograd, launches);
  }
  autograd.add(program::Push{done, 0});
  main.add(program::Pop{done}, "backward");
  if (!parts_.settings.interleaved) free_output(main, i);
  main.add(program::EndMark{});
}

void StagePlans::free_output(ThreadWriter& main, std::size_t i) const {
  if (!is_last()) main.add(program::Free{plan_of(i).output});
}

void StagePlans::free_input_gradient(ThreadWriter& main, std::size_t i) const {
  if (!is_first()) main.add(program::Free{plan_of(i).input_gradient});
}

void StagePlans::divide_gradients(ThreadWriter& main, const LaunchWriter& launch) const {
  for (const Index operation : divisions_) launch.one(main, operation);
}

void StagePlans::end(ThreadWriter& main) const {
  for (const auto& [parameter, copy] : plan_of(0).weight_casts) main.add(program::Free{copy});
}

}  // namespace trainscope::train
