#include "train/parallel/data_parallel.h"

#include <algorithm>

namespace trainscope::train {

using program::Index;
using program::kNoIndex;

void DataParallel::launch(ThreadWriter& thread, const PlannedLaunch& one, Index stream) {
  convolutions_.search(thread, one, stream);
  for (const Index buffer : one.allocated) thread.add(program::Alloc{buffer, stream});
  thread.add(program::Launch{one.operation, stream, kNoIndex, one.same_operator});
  for (const Index buffer : one.freed) thread.add(program::Free{buffer});
}

// ---- Forward -----------------------------------------------------------------------------------

// Bytes of the whole that come before a replica's part: of losses one number each, else samples.
std::int64_t DataParallel::place_of_part(Index part, const Replica& replica) const {
  const Plan& plan = replica.plan;
  if (loss_inside_ && (part == plan.loss_value || part == plan.output_gradient))
    return replica.gpu * program_.buffers[part].bytes;
  return program_.buffers[part].bytes / replica.samples * replica.before;
}

void DataParallel::copy_between(ThreadWriter& thread, program::Copy copy, const Replica& source,
                                const Replica& target) {
  const Replica& other = source.gpu == 0 ? target : source;
  copy.bytes = std::min(program_.buffers[copy.from].bytes, program_.buffers[copy.to].bytes);
  copy.stream = source.stream;
  if (source.gpu == 0) {
    copy.from_begin = place_of_part(copy.to, other);
  } else {
    copy.to_begin = place_of_part(copy.from, other);
  }
  // Each event is of the GPU that it is recorded on.
  const Index of_target = source.gpu == 0 ? other.event : other.event + 1;
  const Index of_source = source.gpu == 0 ? other.event + 1 : other.event;
  thread.add(program::RecordEvent{of_target, target.stream});
  thread.add(program::StreamWait{source.stream, of_target});
  thread.add(copy);
  thread.add(program::RecordEvent{of_source, source.stream});
  thread.add(program::StreamWait{target.stream, of_source});
}

// ncclGroupStart, a call for each GPU's stream, ncclGroupEnd.
void DataParallel::collective(ThreadWriter& thread, program::CollectiveKind kind,
                              const Group& group, Index of_first, const char* name) {
  const bool sums = kind == program::CollectiveKind::kReduce;
  for (const Replica& replica : replicas_) {
    const bool first = replica.gpu == 0;
    const Index own = group.of_replicas[static_cast<std::size_t>(replica.gpu)];
    program::Collective part;
    part.communicator = communicator_;
    part.kind = kind;
    part.bytes = group.bytes;
    part.stream = replica.stream;
    part.sequence = sequence_;
    part.grouped = !first;
    part.send = sums ? own : first ? of_first : kNoIndex;
    part.receive = first ? (sums ? of_first : kNoIndex) : (sums ? kNoIndex : own);
    thread.add(part, name);
  }
  ++sequence_;
}

void DataParallel::forward(ThreadWriter& main, const BatchBuffers& batch) {
  main.at(lines_.forward).add(program::FrameworkCall{}, "Scatter");
  scatter(main, batch.x, &BatchBuffers::x);
  if (loss_inside_) scatter(main, batch.y, &BatchBuffers::y);
  replicate(main);
  apply(main);
  main.add(program::FrameworkCall{}, "Gather");
  gather(main, output_, &Plan::output);
  if (loss_inside_) gather(main, losses_, &Plan::loss_value);
}

void DataParallel::scatter(ThreadWriter& main, Index whole, Index BatchBuffers::* part) {
  for (const Replica& replica : replicas_) hand_out(main, whole, replica.batch.*part, replica);
}

void DataParallel::hand_out(ThreadWriter& thread, Index whole, Index part, const Replica& replica) {
  if (replica.gpu == 0) return thread.add(program::View{whole, part});
  thread.add(program::Alloc{part, replica.stream});
  copy_between(thread, {whole, part}, replicas_[0], replica);
}

// Python copies every module of every replica; that this takes it an operator's time is assumed.
void DataParallel::replicate(ThreadWriter& main) {
  for (const Group& group : sent_) broadcast(main, group);
  for (std::size_t i = 0; i < modules_ * replicas_.size(); ++i)
    main.add(program::FrameworkCall{}, "replicate a module");
}

void DataParallel::broadcast(ThreadWriter& main, const Group& group) {
  main.add(program::Alloc{group.flat, 0});
  main.add(program::Launch{group.cat, 0});
  for (const Replica& replica : replicas_)
    for (const std::size_t id : group.parameters)
      if (replica.gpu > 0) main.add(program::Alloc{replica.model.parameters[id], replica.stream});
  collective(main, program::CollectiveKind::kBroadcast, group, group.of_flat, "Broadcast");
  main.add(program::Free{group.flat});
}

// threading.Thread(...).start(), and .join().
void DataParallel::apply(ThreadWriter& main) {
  for (Replica& replica : replicas_) {
    main.add(program::FrameworkCall{}, "Thread.start");
    main.add(program::Push{replica.go, 0});
    replica.thread->add(program::Pop{replica.go});
    for (const auto* list : {&replica.plan.forward, &replica.plan.loss})
      for (const PlannedLaunch& one : *list) launch(*replica.thread, one, replica.stream);
    replica.thread->add(program::Push{replica.done, 0});
  }
  for (const Replica& replica : replicas_) main.add(program::Pop{replica.done}, "Thread.join");
}

void DataParallel::gather(ThreadWriter& main, Index to, Index Plan::* part) {
  main.add(program::Alloc{to, 0});
  for (const Replica& replica : replicas_) {
    const Index from = replica.plan.*part;
    if (replica.gpu == 0) {
      main.add(program::Copy{from, to, program_.buffers[from].bytes, 0});
    } else {
      copy_between(main, {from, to}, replica, replicas_[0]);
    }
    main.add(program::Free{from});
  }
}

// ---- Backward ----------------------------------------------------------------------------------

void DataParallel::backward(ThreadWriter& autograd, Index output_gradient, bool adds) {
  autograd.add(program::FrameworkCall{}, "GatherBackward");
  for (Replica& replica : replicas_) {
    hand_out(autograd, output_gradient, replica.plan.output_gradient, replica);
    if (replica.gpu == 0) continue;
    autograd.add(program::Push{replica.go_back, 0});
    replica.autograd->add(program::Pop{replica.go_back});
    run_backward(*replica.autograd, replica, kNoIndex);
    replica.autograd->add(program::Push{replica.done_back, 0});
  }
  run_backward(autograd, replicas_[0], output_gradient);
  for (const Replica& replica : replicas_)
    if (replica.gpu > 0) autograd.add(program::Pop{replica.done_back});
  reduce(autograd, adds);
  autograd.add(program::Free{output_});  // the variable `out` of the loop
  if (loss_inside_) autograd.add(program::Free{losses_});
}

// The part of GPU 0 is a view of the whole gradient, which is freed in its place.
void DataParallel::run_backward(ThreadWriter& autograd, Replica& replica, Index output_gradient) {
  for (PlannedLaunch one : replica.plan.backward) {
    if (output_gradient != kNoIndex)
      std::replace(one.freed.begin(), one.freed.end(), replica.plan.output_gradient,
                   output_gradient);
    launch(autograd, one, replica.stream);
  }
  if (replica.gpu == 0) return;
  autograd.add(program::Free{replica.batch.x});
  if (loss_inside_) autograd.add(program::Free{replica.batch.y});
  for (const Index copy : replica.model.parameters) autograd.add(program::Free{copy});
}

void DataParallel::reduce(ThreadWriter& autograd, bool adds) {
  autograd.add(program::FrameworkCall{}, "BroadcastBackward");
  for (std::size_t group = 0; group < summed_.size(); ++group) reduce(autograd, group, adds);
  for (const Replica& replica : replicas_)
    for (const Index gradient : replica.model.gradients)
      if (gradient != kNoIndex) autograd.add(program::Free{gradient});
}

// Without gradients from before, the sums are them; else they are added.
void DataParallel::reduce(ThreadWriter& autograd, std::size_t index, bool adds) {
  const Group& group = summed_[index];
  for (const Replica& replica : replicas_) {
    autograd.add(program::Alloc{replica.flat[index], replica.stream});
    autograd.add(program::Launch{replica.cat[index], replica.stream});
  }
  if (adds) autograd.add(program::Alloc{group.flat, 0});
  for (const std::size_t id : group.parameters)
    if (!adds) autograd.add(program::Alloc{model_.gradients[id], 0});
  collective(autograd, program::CollectiveKind::kReduce, group,
             adds ? group.of_flat : group.of_gradients, "ReduceAddCoalesced");
  for (const Replica& replica : replicas_) autograd.add(program::Free{replica.flat[index]});
  if (!adds) return;
  for (const Index add : group.add) autograd.add(program::Launch{add, 0});
  autograd.add(program::Free{group.flat});
}

}  // namespace trainscope::train
