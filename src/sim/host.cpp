#include "sim/host.h"

#include <type_traits>

#include "sim/deadlock.h"
#include "sim/kernel_model.h"

namespace trainscope::sim {
namespace {

// That the threads of a node have; of a process that stands for several alike, its part of them.
double cores_of(const machine::Host& host) {
  return static_cast<double>(host.cores) / host.sharers;
}

}  // namespace

Host::Host(const program::Program& program, const machine::Machine& machine,
           const std::string& profile, EventQueue& events, Recorder& recorder, Device& device,
           program::Numbers* numbers)
    : program_(program),
      machine_(machine),
      operator_ns_(operator_cost(profile, machine.host)),
      is_eager_(profile == "pytorch-eager"),
      interpreter_ns_(std::min(operator_ns_, machine.host.interpreter_call_ns)),
      events_(events),
      recorder_(recorder),
      device_(device),
      numbers_(numbers),
      device_memory_(program, device.gpus(),
                     {machine::room_of_allocator(machine), machine.host.context_bytes},
                     machine.gpu.name, recorder),
      reuse_(program),
      threads_(program.threads.size()),
      queues_(program.queues.size()),
      locks_(program.locks.size()),
      graphs_(program.graphs.size()),
      cores_are_scarce_(has_scarce_cores()),
      streams_of_(static_cast<std::size_t>(device.gpus())),
      running_(static_cast<std::uint32_t>(program.threads.size())) {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
    while (rates_.size() <= node_of(thread) * kRates) {
      // A copied byte is read once and written once.
      rates_.emplace_back(machine.host.memory_bytes_per_s / 2 * kPerNs);
      rates_.emplace_back(machine.host.disk_bytes_per_s * kPerNs);
      rates_.emplace_back(cores_of(machine.host));
    }
  for (program::Index stream = 0; stream < program.streams.size(); ++stream)
    streams_of_[static_cast<std::size_t>(program.streams[stream].device)].push_back(stream);
  std::vector<int> users(locks_.size(), 0);
  for (const program::Thread& thread : program.threads)
    if (thread.interpreter != program::kNoIndex)
      locks_[thread.interpreter].shared = ++users[thread.interpreter] > 1;
  for (std::size_t i = 0; i < locks_.size(); ++i)
    locks_[i].wait_name = recorder_.name(std::string_view("waits for " + program.locks[i].name));
}

bool Host::has_scarce_cores() const {
  std::vector<int> threads;
  for (std::uint32_t thread = 0; thread < program_.threads.size(); ++thread) {
    if (threads.size() <= node_of(thread)) threads.resize(node_of(thread) + 1);
    if (++threads[node_of(thread)] > cores_of(machine_.host)) return true;
  }
  return false;
}

void Host::start() {
  stopped_ = !device_memory_.place_the_rest();
  if (stopped_) return;
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
    events_.add(0, EventKind::kThread, thread);
}

void Host::on_thread(Nanos now, std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  const std::vector<program::Command>& commands = program_.threads[thread].commands;
  if (state.next > commands.size() || stopped_) return;  // a late wake-up
  while (state.next < commands.size()) {
    if (state.stage == 0) {
      state.begun = now;
      state.span_before = state.last_span;
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
  const auto carry_out = [&](const auto& action) -> bool {
    using Type = std::decay_t<decltype(action)>;
    if constexpr (std::is_same_v<Type, HostWork>) {
      return work(now, thread, command, action.duration);
    } else if constexpr (std::is_same_v<Type, StartWorker>) {
      return start_worker(now, thread, command);
    } else if constexpr (std::is_same_v<Type, FrameworkCall>) {
      return framework_call(now, thread, command);
    } else if constexpr (std::is_same_v<Type, HostCopy>) {
      return host_copy(now, thread, command);
    } else if constexpr (std::is_same_v<Type, HostAlloc>) {
      return host_alloc(now, thread, command, action.bytes);
    } else if constexpr (std::is_same_v<Type, DiskRead>) {
      return disk_read(now, thread, command);
    } else if constexpr (std::is_same_v<Type, HostRead> || std::is_same_v<Type, HostWrite>) {
      touch(now, thread, command);
    } else if constexpr (std::is_same_v<Type, LoadBatch>) {
      if (numbers_) numbers_->load(action);
    } else if constexpr (std::is_same_v<Type, Branch>) {
      branch(thread, action);
    } else if constexpr (std::is_same_v<Type, View>) {
      if (numbers_) numbers_->view(action);
    } else if constexpr (std::is_same_v<Type, LogStep>) {
      log_step(now, thread, command);
      return !stopped_;
    } else if constexpr (std::is_same_v<Type, LogEvaluation>) {
      log_evaluation(now, action);
    } else if constexpr (std::is_same_v<Type, Acquire>) {
      return acquire(now, thread, command, action.lock);
    } else if constexpr (std::is_same_v<Type, Release>) {
      release(now, thread, action.lock);
    } else if constexpr (std::is_same_v<Type, Alloc>) {
      return allocate(now, thread, command);
    } else if constexpr (std::is_same_v<Type, Free>) {
      return free(now, thread, command);
    } else if constexpr (std::is_same_v<Type, EmptyCache>) {
      return empty_cache(now, thread, command);
    } else if constexpr (std::is_same_v<Type, RecordStream>) {
      device_memory_.record_stream(action);
    } else if constexpr (std::is_same_v<Type, Compute>) {
      return calculate(now, thread, command);
    } else if constexpr (std::is_same_v<Type, Launch>) {
      return launch(now, thread, command);
    } else if constexpr (std::is_same_v<Type, Copy>) {
      return copy(now, thread, command);
    } else if constexpr (std::is_same_v<Type, ReadScalar>) {
      return read_scalar(now, thread, command);
    } else if constexpr (std::is_same_v<Type, BeginCapture>) {
      begin_capture(thread, action);
    } else if constexpr (std::is_same_v<Type, EndCapture>) {
      graphs_[action.graph].captured_by = kNoThread;
    } else if constexpr (std::is_same_v<Type, GraphInstantiate>) {
      return instantiate_graph(now, thread, command);
    } else if constexpr (std::is_same_v<Type, GraphLaunch>) {
      return launch_graph(now, thread, command);
    } else if constexpr (std::is_same_v<Type, Collective>) {
      return collective(now, thread, command);
    } else if constexpr (std::is_same_v<Type, RecordEvent> || std::is_same_v<Type, StreamWait>) {
      return event_call(now, thread, command);
    } else if constexpr (std::is_same_v<Type, Push>) {
      return push(now, thread, action);
    } else if constexpr (std::is_same_v<Type, Pop>) {
      return take(now, thread, command, action.queue, std::nullopt);
    } else if constexpr (std::is_same_v<Type, Take>) {
      return take(now, thread, command, action.queue, action.item);
    } else if constexpr (std::is_same_v<Type, BeginMark>) {
      begin_mark(now, thread, command);
    } else if constexpr (std::is_same_v<Type, EndMark>) {
      end_mark(now, thread);
    } else if constexpr (std::is_same_v<Type, Elapse>) {
      return elapse(now, thread, action.duration);
    } else if constexpr (std::is_same_v<Type, BeginRecorded>) {
      begin_recorded(now, thread, command);
    } else if constexpr (std::is_same_v<Type, RecordedCall>) {
      return recorded_call(now, thread, command);
    } else {
      static_assert(std::is_same_v<Type, StreamSync> || std::is_same_v<Type, DeviceSync> ||
                    std::is_same_v<Type, EventSync>);
      return synchronise(now, thread, command);
    }
    return true;
  };
  return std::visit(carry_out, command.action);
}

void Host::on_rate(Nanos now, std::uint32_t rate, std::uint64_t version) {
  SharedRate& shared = rates_[rate];
  if (shared.version() != version) return;
  for (const std::uint32_t thread : shared.finish(now)) {
    ThreadState& state = threads_[thread];
    if (rate % kRates == kCores) state.slowed |= now > state.due;
    if (--state.rates_under_way == 0) events_.add(now, EventKind::kThread, thread);
  }
  if (!shared.idle())
    events_.add(shared.next_finish(), EventKind::kHostRate, rate, shared.version());
}

std::uint16_t Host::line_of(int rank) const {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const program::Thread& thread = program_.threads[i];
    if (thread.role != program::ThreadRole::kMain || thread.rank != rank) continue;
    const std::size_t next = threads_[i].next;
    return next < thread.commands.size() ? thread.commands[next].line : std::uint16_t{0};
  }
  return 0;
}

std::string Host::waiting() const {
  Standstill standstill;
  for (const ThreadState& state : threads_) standstill.next.push_back(state.next);
  for (const LockState& lock : locks_) standstill.lock_owners.push_back(lock.owner);
  return explain(standstill, program_);
}

}  // namespace trainscope::sim
