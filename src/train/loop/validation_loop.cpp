#include "train/loop/validation_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/marks.h"
#include "train/autograd/lifetimes.h"

namespace trainscope::train {

using program::Index;
using program::Phase;

ValidationLoop::ValidationLoop(const Parts& parts, Index loss_on_host)
    : parts_(parts), loss_on_host_(loss_on_host) {
  constexpr std::int64_t kMost = 2;
  const std::int64_t places = std::min(parts_.settings.validation.batches, kMost);
  for (std::int64_t place = 0; place < places; ++place) add_place();
}

void ValidationLoop::add_place() {
  program::Program& program = parts_.program;
  Place& place = places_.emplace_back();
  place.apart = parts_.feed.add_apart(" of validation");
  const std::size_t first = program.buffers.size();
  PlanBuffers buffers(program::MemoryKind::kDevice);
  TapeOptions options;
  options.precision = parts_.settings.precision;
  options.checkpoint_every = parts_.settings.checkpoint_every;
  place.validation =
      plan_validation(program, parts_.graph, parts_.model, buffers, place.apart.batch, options,
                      !parts_.settings.validation.no_grad);
  for (std::size_t i = first; i < program.buffers.size(); ++i)
    program.buffers[i].name += ", validation";
  if (parts_.convolutions) parts_.convolutions->expand(place.validation.plan);
}

void ValidationLoop::write(ThreadWriter& main, const LaunchWriter& launch) {
  main.at(parts_.lines.validate).add(program::BeginMark{}, program::kValidationMark);
  if (parts_.settings.tensor)  // X_val.split and Y_val.split
    for (int i = 0; i < 2; ++i)
      main.at(parts_.lines.validation_next).add(program::FrameworkCall{}, "aten::split");
  const std::int64_t batches = parts_.settings.validation.batches;
  for (std::int64_t batch = 0; batch < batches; ++batch) write_batch(main, launch, batch);
  main.at(parts_.lines.validate);
  leave(main, places_[static_cast<std::size_t>(batches - 1) % places_.size()], {});
  main.add(program::EndMark{});
}

void ValidationLoop::write_batch(ThreadWriter& main, const LaunchWriter& launch,
                                 std::int64_t batch) {
  const TrainLines& lines = parts_.lines;
  Place& place = places_[static_cast<std::size_t>(batch) % places_.size()];
  Place* const before =
      batch > 0 ? &places_[static_cast<std::size_t>(batch - 1) % places_.size()] : nullptr;
  const ValidationPlan& validation = place.validation;
  if (before) leave(main.at(lines.validation_next), *before, {false, true, true});
  parts_.feed.deliver_apart(main, place.apart, batch, lines.validation_next, lines.validation_copy);
  write_forward(main.at(lines.validation_forward), launch, validation.plan);
  if (before) leave(main, *before, {false, false, true});
  main.at(lines.validation_loss).in(Phase::kForward);
  launch(main, validation.plan.loss);
  main.in(Phase::kNone);
  if (before) leave(main, *before, {});
  place.lives = held_by(place, {true, true, true});
  append(main.at(lines.validation_append), place);
}

// DistributedDataParallel sends its buffers in evaluation, too, and builds its buckets anew and
// searches for unused parameters where gradients are enabled (torch/nn/parallel/distributed.py,
// _pre_forward and _post_forward).
void ValidationLoop::write_forward(ThreadWriter& main, const LaunchWriter& launch,
                                   const Plan& plan) {
  if (parts_.ddp && parts_.settings.validation.no_grad) parts_.ddp->broadcast_buffers(main);
  if (parts_.ddp && !parts_.settings.validation.no_grad) parts_.ddp->before_forward(main);
  main.in(Phase::kForward);
  launch(main, plan.forward);
  if (parts_.ddp && !parts_.settings.validation.no_grad) parts_.ddp->search_unused(main);
  main.in(Phase::kNone);
}

void ValidationLoop::append(ThreadWriter& main, Place& place) {
  const Index loss = place.validation.plan.loss_value;
  switch (parts_.settings.validation.appended) {
    case Appended::kItem:
      return main.add(
          program::ReadScalar{{loss, loss_on_host_, parts_.program.buffers[loss].bytes, 0}},
          "aten::item");
    case Appended::kLoss:
      return keep(main, place, {false, false, true});
    case Appended::kOutput:
      return keep(main, place, {false, true, false});
  }
}

// The list has a buffer of its own for each block, which takes over the block's place: the next
// batch but one is written to the same buffers again.
void ValidationLoop::keep(ThreadWriter& main, Place& place, const Names& names) {
  ++appended_;
  for (const Index buffer : held_by(place, names)) {
    if (std::erase(place.lives, buffer) == 0) continue;
    const Index kept =
        add_kept(parts_.program, buffer,
                 fmt::format("{} batch {}", parts_.program.buffers[buffer].name, appended_));
    main.add(program::Free{buffer});
    main.add(program::Alloc{kept, 0});
  }
}

void ValidationLoop::leave(ThreadWriter& main, Place& place, const Names& names) {
  const std::vector<Index> held = held_by(place, names);
  std::erase_if(place.lives, [&](Index buffer) {
    if (std::ranges::find(held, buffer) != held.end()) return false;
    main.add(program::Free{buffer});
    return true;
  });
}

std::vector<Index> ValidationLoop::held_by(const Place& place, const Names& names) {
  const ValidationPlan& of = place.validation;
  std::vector<Index> held;
  const auto add = [&](Index buffer) {
    if (std::ranges::find(held, buffer) == held.end()) held.push_back(buffer);
  };
  if (names.batch) {
    add(place.apart.batch.x);
    add(place.apart.batch.y);
  }
  if (names.output || names.loss) std::ranges::for_each(of.graph_of_output, add);
  if (names.output) add(of.plan.output);
  if (names.loss) {
    std::ranges::for_each(of.graph_of_loss, add);
    add(of.plan.loss_value);
  }
  return held;
}

}  // namespace trainscope::train
