#include "sim/host.h"

#include <algorithm>
#include <string_view>

#include "sim/kernel_model.h"

namespace trainscope::sim {
namespace {

constexpr double kPerNs = 1e-9;

}  // namespace

Host::Host(const program::Program& program, const machine::Machine& machine,
           const std::string& profile, EventQueue& events, Recorder& recorder, Device& device)
    : program_(program),
      machine_(machine),
      operator_ns_(operator_cost(profile, machine.host)),
      events_(events),
      recorder_(recorder),
      device_(device),
      threads_(program.threads.size()),
      queues_(program.queues.size()),
      // A copied byte is read once and written once.
      memory_(machine.host.memory_bytes_per_s / 2 * kPerNs),
      running_(static_cast<std::uint32_t>(program.threads.size())) {}

void Host::start() {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
    events_.add(0, EventKind::kThread, thread);
}

void Host::on_thread(Nanos now, std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  const std::vector<program::Command>& commands = program_.threads[thread].commands;
  if (state.next > commands.size()) return;  // a late wake-up
  while (state.next < commands.size()) {
    if (state.stage == 0) {
      state.begun = now;
      state.stage = 1;
    }
    if (!run(now, thread, commands[state.next])) return;
    ++state.next;
    ++commands_done_;
    state.stage = 0;
    state.waits_since = -1;
  }
  ++state.next;
  --running_;
}

bool Host::run(Nanos now, std::uint32_t thread, const program::Command& command) {
  using namespace program;
  return std::visit(
      [&](const auto& action) -> bool {
        using Type = std::decay_t<decltype(action)>;
        if constexpr (std::is_same_v<Type, HostWork>) {
          return work(now, thread, command, action.duration);
        } else if constexpr (std::is_same_v<Type, FrameworkCall>) {
          return framework_call(now, thread, command);
        } else if constexpr (std::is_same_v<Type, HostCopy>) {
          return host_copy(now, thread, command);
        } else if constexpr (std::is_same_v<Type, Launch>) {
          return launch(now, thread, command);
        } else if constexpr (std::is_same_v<Type, Copy>) {
          return copy(now, thread, command);
        } else if constexpr (std::is_same_v<Type, GraphInstantiate>) {
          return instantiate_graph(now, thread, command);
        } else if constexpr (std::is_same_v<Type, GraphLaunch>) {
          return launch_graph(now, thread, command);
        } else if constexpr (std::is_same_v<Type, RecordEvent> ||
                             std::is_same_v<Type, StreamWait>) {
          return event_call(now, thread, command);
        } else if constexpr (std::is_same_v<Type, Push>) {
          return push(now, thread, action);
        } else if constexpr (std::is_same_v<Type, Pop>) {
          return take(now, thread, command, action.queue, 0, true);
        } else if constexpr (std::is_same_v<Type, Take>) {
          return take(now, thread, command, action.queue, action.item, false);
        } else if constexpr (std::is_same_v<Type, BeginMark>) {
          begin_mark(now, thread, command);
          return true;
        } else if constexpr (std::is_same_v<Type, EndMark>) {
          end_mark(now, thread);
          return true;
        } else {
          return synchronise(now, thread, command);
        }
      },
      command.action);
}

// ---- Host work ---------------------------------------------------------------------------------

bool Host::work(Nanos now, std::uint32_t thread, const program::Command& command, Nanos duration) {
  if (!sleep(now, thread, duration)) return false;
  const bool loads = std::get<program::HostWork>(command.action).loads_data;
  host_span(thread, command, threads_[thread].begun, now,
            recorder_.name_of(command, loads ? "load" : "work"),
            loads ? trace::Category::kLoader : trace::Category::kHostWork);
  return true;
}

bool Host::framework_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!sleep(now, thread, operator_ns_)) return false;
  operator_span(now, thread, command, recorder_.name_of(command, "call"));
  return true;
}

bool Host::host_copy(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  if (state.stage == 1) {
    start_memcpy(now, thread, std::get<program::HostCopy>(command.action).bytes);
    state.stage = 2;
  }
  if (!state.copy_done) return false;
  host_span(thread, command, state.begun, now, recorder_.name_of(command, "pin"),
            trace::Category::kPin);
  return true;
}

void Host::start_memcpy(Nanos now, std::uint32_t thread, std::int64_t bytes) {
  threads_[thread].copy_done = false;
  memory_.admit(now, thread, static_cast<double>(bytes), machine_.host.memcpy_bytes_per_s * kPerNs);
  events_.add(memory_.next_finish(), EventKind::kRate, kRate, memory_.version());
}

void Host::on_rate(Nanos now, std::uint64_t version) {
  if (memory_.version() != version) return;
  for (const std::uint32_t thread : memory_.finish(now)) {
    threads_[thread].copy_done = true;
    events_.add(now, EventKind::kThread, thread);
  }
  if (!memory_.idle())
    events_.add(memory_.next_finish(), EventKind::kRate, kRate, memory_.version());
}

// ---- CUDA calls --------------------------------------------------------------------------------

bool Host::launch(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  if (state.stage == 1) {
    if (!sleep(now, thread, operator_ns_)) return false;
    state.call_begun = now;
    state.stage = 2;
  }
  if (!sleep(now, thread, machine_.host.launch_call_ns)) return false;
  const auto& action = std::get<program::Launch>(command.action);
  const program::Operation& operation = program_.operations[action.operation];
  const Recorder::LaunchNames& names = recorder_.launch_names(action.operation);
  operator_span(now, thread, command, names.framework);
  Enqueued tags;
  tags.stream = action.stream;
  tags.name = names.kernel;
  tags.line = command.line;
  tags.correlation = recorder_.next_correlation();
  tags.call = call_span(now, thread, command, names.call, tags.correlation);
  device_.enqueue_kernel(now, tags, operation, command.phase);
  return true;
}

bool Host::instantiate_graph(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto& action = std::get<program::GraphInstantiate>(command.action);
  const auto nodes = static_cast<Nanos>(program_.graphs[action.graph].operations.size());
  if (!sleep(now, thread, nodes * machine_.host.graph_instantiate_node_ns)) return false;
  host_span(thread, command, threads_[thread].begun, now, recorder_.name("cudaGraphInstantiate"),
            trace::Category::kHostApi);
  return true;
}

// One call enqueues all nodes; the device then needs no host between them.
bool Host::launch_graph(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto& action = std::get<program::GraphLaunch>(command.action);
  const program::Graph& graph = program_.graphs[action.graph];
  const auto nodes = static_cast<Nanos>(graph.operations.size());
  const machine::Host& host = machine_.host;
  if (!sleep(now, thread, host.graph_launch_ns + nodes * host.graph_launch_node_ns)) return false;
  threads_[thread].call_begun = threads_[thread].begun;
  Enqueued tags;
  tags.stream = action.stream;
  tags.line = command.line;
  tags.correlation = recorder_.next_correlation();
  tags.call = threads_[thread].last_span =
      call_span(now, thread, command, recorder_.name("cudaGraphLaunch"), tags.correlation);
  for (const program::Index operation : graph.operations) {
    tags.name = recorder_.launch_names(operation).kernel;
    device_.enqueue_kernel(now, tags, program_.operations[operation], command.phase);
  }
  return true;
}

bool Host::event_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!sleep(now, thread, machine_.host.event_call_ns)) return false;
  const auto* record = std::get_if<program::RecordEvent>(&command.action);
  if (record) {
    device_.record_event(now, record->event, record->stream);
  } else {
    const auto& wait = std::get<program::StreamWait>(command.action);
    device_.wait_event(wait.stream, wait.event);
  }
  host_span(thread, command, threads_[thread].begun, now,
            recorder_.name(record ? "cudaEventRecord" : "cudaStreamWaitEvent"),
            trace::Category::kHostApi);
  return true;
}

OpId Host::sync_target(Nanos now, const program::Command& command) {
  if (const auto* stream = std::get_if<program::StreamSync>(&command.action))
    return device_.tail(now, stream->stream);
  if (const auto* event = std::get_if<program::EventSync>(&command.action))
    return device_.op_of_event(event->event);
  OpId last = kNoOp;
  for (program::Index stream = 0; stream < program_.streams.size(); ++stream) {
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
    if (!sleep(now, thread, machine_.host.sync_call_ns)) return false;
    state.stage = 2;
  }
  if (state.stage == 2) {
    const OpId target = sync_target(now, command);
    if (!device_.done(target)) {
      state.waits_since = state.begun;
      state.waits_for = target;
      device_.wake_when_done(target, thread);
      return false;
    }
    state.stage = 3;
  }
  const bool waited = state.waits_since >= 0;
  if (waited && !sleep(now, thread, machine_.host.wake_ns)) return false;
  const bool stream = std::holds_alternative<program::StreamSync>(command.action);
  const bool event = std::holds_alternative<program::EventSync>(command.action);
  trace::Span span;
  span.start = state.begun;
  span.duration = now - state.begun;
  span.name = recorder_.name(stream  ? "cudaStreamSynchronize"
                             : event ? "cudaEventSynchronize"
                                     : "cudaDeviceSynchronize");
  span.lane = recorder_.thread_lane(thread);
  span.category = waited ? trace::Category::kHeld : trace::Category::kHostApi;
  span.cause = waited ? trace::Cause::kDevice : trace::Cause::kProgram;
  span.cause_span = waited ? device_.span_of(state.waits_for) : trace::kNone;
  span.line = command.line;
  state.last_span = recorder_.add(span);
  return true;
}

// ---- Queues and marks --------------------------------------------------------------------------

bool Host::push(Nanos now, std::uint32_t thread, const program::Push& push) {
  ThreadState& state = threads_[thread];
  QueueState& queue = queues_[push.queue];
  if (static_cast<std::int64_t>(queue.items.size()) >= program_.queues[push.queue].capacity) {
    queue.waiting.push_back(thread);
    return false;
  }
  const std::int64_t item = push.item == program::Push::kFromPop ? state.item : push.item;
  queue.items.push_back({item, state.last_span});
  wake_all(now, queue);
  return true;
}

bool Host::take(Nanos now, std::uint32_t thread, const program::Command& command,
                program::Index index, std::int64_t item, bool any) {
  ThreadState& state = threads_[thread];
  QueueState& queue = queues_[index];
  const auto found = std::find_if(queue.items.begin(), queue.items.end(),
                                  [&](const Item& one) { return any || one.value == item; });
  if (found == queue.items.end()) {
    state.waits_since = state.begun;
    queue.waiting.push_back(thread);
    return false;
  }
  state.item = found->value;
  state.producer = found->producer;
  queue.items.erase(found);
  wake_all(now, queue);
  // Workers and the pin thread rest while they wait; the training thread is held.
  const bool training = program_.threads[thread].role == program::ThreadRole::kMain;
  if (training && state.waits_since >= 0)
    wait_span(now, thread, command, "waits for data", trace::Cause::kData, state.producer);
  return true;
}

void Host::wake_all(Nanos now, QueueState& queue) {
  for (const std::uint32_t waiting : queue.waiting) events_.add(now, EventKind::kThread, waiting);
  queue.waiting.clear();
}

void Host::begin_mark(Nanos now, std::uint32_t thread, const program::Command& command) {
  threads_[thread].marks.push_back({recorder_.name_of(command, "mark"), now, command.line});
}

void Host::end_mark(Nanos now, std::uint32_t thread) {
  const Mark mark = threads_[thread].marks.back();
  threads_[thread].marks.pop_back();
  if (program_.threads[thread].role != program::ThreadRole::kMain) return;
  trace::Span span;
  span.start = mark.start;
  span.duration = now - mark.start;
  span.name = mark.name;
  span.lane = recorder_.steps_lane();
  span.category = trace::Category::kAnnotation;
  span.line = mark.line;
  recorder_.add(span);
}

// ---- Waiting and spans -------------------------------------------------------------------------

// True once `duration` is over since the first call of this stage.
bool Host::sleep(Nanos now, std::uint32_t thread, Nanos duration) {
  ThreadState& state = threads_[thread];
  if (state.wake_at < 0) {
    if (duration == 0) return true;
    state.wake_at = now + duration;
    events_.add(state.wake_at, EventKind::kThread, thread);
    return false;
  }
  if (now < state.wake_at) return false;
  state.wake_at = -1;
  return true;
}

trace::SpanId Host::host_span(std::uint32_t thread, const program::Command& command, Nanos start,
                              Nanos end, trace::NameId name, trace::Category category) {
  trace::Span span;
  span.start = start;
  span.duration = end - start;
  span.name = name;
  span.lane = recorder_.thread_lane(thread);
  span.category = category;
  span.cause = trace::Cause::kProgram;
  span.cause_span = threads_[thread].last_span;
  span.line = command.line;
  return threads_[thread].last_span = recorder_.add(span);
}

// The call that enqueues device work, from call_begun to now.
trace::SpanId Host::call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                              trace::NameId name, std::uint32_t correlation) {
  trace::Span span;
  span.start = threads_[thread].call_begun;
  span.duration = now - span.start;
  span.name = name;
  span.lane = recorder_.thread_lane(thread);
  span.category = trace::Category::kHostApi;
  span.cause = trace::Cause::kProgram;
  span.line = command.line;
  span.correlation = correlation;
  return recorder_.add(span);
}

void Host::operator_span(Nanos now, std::uint32_t thread, const program::Command& command,
                         trace::NameId name) {
  if (operator_ns_ == 0) return;
  host_span(thread, command, threads_[thread].begun, now, name, trace::Category::kHostWork);
}

void Host::wait_span(Nanos now, std::uint32_t thread, const program::Command& command,
                     std::string_view name, trace::Cause cause, trace::SpanId cause_span) {
  const Nanos since = threads_[thread].waits_since;
  if (since < 0 || since == now) return;
  trace::Span span;
  span.start = since;
  span.duration = now - since;
  span.name = recorder_.name(name);
  span.lane = recorder_.thread_lane(thread);
  span.category = trace::Category::kHeld;
  span.cause = cause;
  span.cause_span = cause_span;
  span.line = command.line;
  threads_[thread].last_span = recorder_.add(span);
}

std::string Host::waiting() const {
  std::string text;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const auto& commands = program_.threads[i].commands;
    if (threads_[i].next >= commands.size()) continue;
    const program::Command& command = commands[threads_[i].next];
    if (!text.empty()) text += "; ";
    text += program_.threads[i].name + " waits";
    if (command.line > 0)
      text += " in line " + std::to_string(command.line) + " (" +
              program_.listing.lines[command.line - 1u] + ")";
  }
  return text;
}

}  // namespace trainscope::sim
