// CUDA calls that enqueue kernels, order streams, or wait for the device.

#include "sim/host.h"

namespace trainscope::sim {

bool Host::launch(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const auto& action = std::get<program::Launch>(command.action);
  if (state.stage == 1) {
    if (!action.same_operator && !operate(now, thread, command)) return false;
    state.call_begun = now;
    state.stage = 2;
  }
  GraphState* graph = captured(thread, action.stream);
  if (state.stage == 2) {
    if (!graph && !wait_for_launch_queue(now, thread, command)) return false;
    state.stage = 3;
  }
  if (!compute(now, thread, machine_.host.launch_call_ns)) return false;
  const Recorder::LaunchNames& names = recorder_.launch_names(action.operation);
  if (!action.same_operator) operator_span(now, thread, command, names.framework);
  if (graph) {
    graph->operations.push_back(action.operation);
    call_span(now, thread, command, names.call, 0);
    return true;
  }
  Enqueued tags;
  tags.stream = action.stream;
  tags.name = names.kernel;
  tags.line = command.line;
  tags.correlation = recorder_.next_correlation();
  tags.call = call_span(now, thread, command, names.call, tags.correlation);
  tags.in_launch_queue = true;
  tags.returns_at_once = is_skipped(action);
  if (!tags.returns_at_once) compute_numbers(action.operation);
  enqueue_kernel(now, tags, action.operation, command.phase);
  return true;
}

void Host::enqueue_kernel(Nanos now, const Enqueued& tags, program::Index operation,
                          program::Phase phase) {
  const program::Operation& one = program_.operations[operation];
  const OpId op = device_.enqueue_kernel(now, tags, one, phase);
  reuse_.used(one.reads, tags.stream, op);
  reuse_.used(one.writes, tags.stream, op);
}

// A launch that finds the launch queue full waits inside its call.
bool Host::wait_for_launch_queue(Nanos now, std::uint32_t thread, const program::Command& command) {
  const program::Index stream = program::stream_of(command.action);
  if (device_.launch_queue_full(stream)) {
    device_.wake_when_room(stream, thread);
    return false;
  }
  wait_span(threads_[thread].call_begun, now, thread, command, recorder_.name("launch queue full"),
            trace::Cause::kRoom, trace::kNone);
  return true;
}

void Host::begin_capture(std::uint32_t thread, const program::BeginCapture& capture) {
  graphs_[capture.graph].operations.clear();
  graphs_[capture.graph].captured_on = capture.stream;
  graphs_[capture.graph].captured_by = thread;
}

Host::GraphState* Host::captured(std::uint32_t thread, program::Index stream) {
  for (GraphState& graph : graphs_)
    if (graph.captured_by == thread && graph.captured_on == stream) return &graph;
  return nullptr;
}

bool Host::instantiate_graph(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto& action = std::get<program::GraphInstantiate>(command.action);
  const auto nodes = static_cast<Nanos>(graphs_[action.graph].operations.size());
  if (!compute(now, thread, nodes * machine_.host.graph_instantiate_node_ns)) return false;
  host_span(thread, command, threads_[thread].begun, now, recorder_.name("cudaGraphInstantiate"),
            trace::Category::kHostApi);
  return true;
}

// One call enqueues all nodes; the device then needs no host between them.
bool Host::launch_graph(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto& action = std::get<program::GraphLaunch>(command.action);
  const GraphState& graph = graphs_[action.graph];
  const auto nodes = static_cast<Nanos>(graph.operations.size());
  const machine::Host& host = machine_.host;
  if (!compute(now, thread, host.graph_launch_ns + nodes * host.graph_launch_node_ns)) return false;
  threads_[thread].call_begun = threads_[thread].begun;
  Enqueued tags;
  tags.stream = action.stream;
  tags.line = command.line;
  tags.correlation = recorder_.next_correlation();
  tags.call = threads_[thread].last_span =
      call_span(now, thread, command, recorder_.name("cudaGraphLaunch"), tags.correlation);
  for (const program::Index operation : graph.operations) {
    tags.name = recorder_.launch_names(operation).kernel;
    compute_numbers(operation);
    enqueue_kernel(now, tags, operation, command.phase);
  }
  return true;
}

bool Host::event_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!compute(now, thread, machine_.host.event_call_ns)) return false;
  const auto* record = std::get_if<program::RecordEvent>(&command.action);
  if (record) {
    device_.record_event(now, record->event, record->stream);
  } else {
    const auto& wait = std::get<program::StreamWait>(command.action);
    device_.wait_event(wait.stream, wait.event);
  }
  host_span(thread, command, threads_[thread].begun, now,
            record ? recorder_.name("cudaEventRecord") : recorder_.name("cudaStreamWaitEvent"),
            trace::Category::kHostApi);
  return true;
}

OpId Host::sync_target(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (const auto* stream = std::get_if<program::StreamSync>(&command.action))
    return device_.tail(now, stream->stream);
  if (const auto* scalar = std::get_if<program::ReadScalar>(&command.action))
    return device_.tail(now, scalar->copy.stream);
  if (const auto* event = std::get_if<program::EventSync>(&command.action))
    return device_.op_of_event(event->event);
  return device_tail(now, program_.threads[thread].device);
}

OpId Host::device_tail(Nanos now, int device) {
  OpId last = kNoOp;
  for (const program::Index stream : streams_of_[static_cast<std::size_t>(device)]) {
    const OpId tail = device_.tail(now, stream);
    if (tail == kNoOp) continue;
    if (!device_.done(tail)) return tail;
    last = tail;
  }
  return last;
}

bool Host::synchronise(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  if (state.stage == 1) {
    if (!compute(now, thread, machine_.host.sync_call_ns)) return false;
    state.stage = 2;
  }
  if (state.stage == 2) {
    const OpId target = sync_target(now, thread, command);
    if (!device_.done(target)) {
      state.waits_since = state.begun;
      state.waits_for = target;
      device_.wake_when_done(target, thread);
      return false;
    }
    state.stage = 3;
  }
  const bool waited = state.waits_since >= 0;
  if (waited && !rest(now, thread, machine_.host.wake_ns)) return false;
  const bool stream = std::holds_alternative<program::StreamSync>(command.action) ||
                      std::holds_alternative<program::ReadScalar>(command.action);
  const bool event = std::holds_alternative<program::EventSync>(command.action);
  trace::Span span;
  span.start = state.begun;
  span.duration = now - state.begun;
  span.name = stream  ? recorder_.name("cudaStreamSynchronize")
              : event ? recorder_.name("cudaEventSynchronize")
                      : recorder_.name("cudaDeviceSynchronize");
  span.lane = recorder_.thread_lane(thread);
  span.category = waited ? trace::Category::kHeld : trace::Category::kHostApi;
  span.cause = waited ? trace::Cause::kDevice : trace::Cause::kProgram;
  span.cause_span = waited ? device_.span_of(state.waits_for) : trace::kNone;
  span.line = command.line;
  state.last_span = add_span(thread, span);
  return true;
}

}  // namespace trainscope::sim
