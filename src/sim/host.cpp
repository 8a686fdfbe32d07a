#include "sim/host.h"

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
