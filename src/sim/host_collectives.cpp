// What a collective costs the host thread that calls it.

#include <string>

#include "sim/host.h"

namespace trainscope::sim {

// torch.distributed: the operator in Python, the operator of c10d that it calls, an event before
// and one after, by which streams wait; then NCCL's own work and its launch. torch.cuda.nccl, by
// which one process drives several GPUs, orders no streams: one operator for all of a group. Plain
// NCCL: only its own.
bool Host::collective(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto& action = std::get<program::Collective>(command.action);
  ThreadState& state = threads_[thread];
  if (state.stage == 1) {
    if (!action.grouped && !operate(now, thread, command)) return false;
    state.stage = 2;
  }
  if (state.stage == 2) {
    const Nanos events = action.after == program::kNoIndex ? 0 : 2 * machine_.host.event_call_ns;
    const Nanos of_c10d = action.after == program::kNoIndex ? 0 : operator_ns_;
    if (!compute(now, thread, of_c10d + events + machine_.host.nccl_call_ns)) return false;
    state.call_begun = now;
    state.stage = 3;
  }
  if (state.stage == 3) {
    if (!wait_for_launch_queue(now, thread, command)) return false;
    state.stage = 4;
  }
  if (!compute(now, thread, machine_.host.launch_call_ns)) return false;
  const std::string name(program::name_of(action.kind));
  if (!action.grouped)
    operator_span(now, thread, command, recorder_.name_of(command, "c10d::" + name));
  Enqueued tags;
  tags.stream = action.stream;
  tags.name = recorder_.name(std::string_view(
      kernel_name(action.kind, program::type_of(program_, action), device_.plan_of(action))));
  tags.line = command.line;
  tags.correlation = recorder_.next_correlation();
  tags.call =
      call_span(now, thread, command, recorder_.name("cudaLaunchKernelExC"), tags.correlation);
  tags.in_launch_queue = true;
  if (action.after != program::kNoIndex) device_.wait_stream(now, action.stream, action.after);
  device_.enqueue_collective(now, tags, action);
  if (numbers_) numbers_->collective(action);
  return true;
}

}  // namespace trainscope::sim
