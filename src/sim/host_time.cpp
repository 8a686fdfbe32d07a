// How host time passes: on a core, without one, under the interpreter's lock, at a shared rate.

#include <algorithm>
#include <cmath>

#include "sim/host.h"

namespace trainscope::sim {
namespace {

// That a command launches, or computes itself: either is an operator.
program::Index operation_of(const program::Command& command) {
  if (const auto* launch = std::get_if<program::Launch>(&command.action)) return launch->operation;
  const auto* compute = std::get_if<program::Compute>(&command.action);
  return compute ? compute->operation : program::kNoIndex;
}

}  // namespace

bool Host::rest(Nanos now, std::uint32_t thread, Nanos duration) {
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

// With a core for every thread, time is all it takes.
bool Host::compute(Nanos now, std::uint32_t thread, Nanos duration) {
  if (!cores_are_scarce_) return rest(now, thread, duration);
  ThreadState& state = threads_[thread];
  if (state.wake_at < 0) {
    if (duration == 0) return true;
    state.wake_at = now;
    state.due = now + duration;
    serve(now, kCores, thread, static_cast<double>(duration), 1);
    return false;
  }
  if (!served(thread)) return false;
  state.wake_at = -1;
  return true;
}

Nanos Host::operator_time(const program::Command& command) const {
  const program::Index id = operation_of(command);
  if (id == program::kNoIndex) return operator_ns_;
  const program::Operation& operation = program_.operations[id];
  if (operation.compiled) return std::min(operator_ns_, machine_.host.compiled_operator_ns);
  if (!is_eager_) return operator_ns_;
  return std::llround(static_cast<double>(operator_ns_) * operation.host_cost);
}

bool Host::operate(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const Nanos whole = operator_time(command);
  const Nanos in_python = std::min(whole, interpreter_ns_);
  const program::Index lock = program_.threads[thread].interpreter;
  const bool alone = lock == program::kNoIndex || !locks_[lock].shared ||
                     (state.operating == 0 && state.lock_since < 0 && locks_[lock].owner == thread);
  if (whole == 0 || alone) return compute(now, thread, whole);
  if (state.operating == 0) {
    if (!acquire(now, thread, command, lock)) return false;
    state.operating = 1;
  }
  if (state.operating == 1) {
    if (!compute(now, thread, in_python)) return false;
    release(now, thread, lock);
    state.operating = 2;
  }
  if (!compute(now, thread, whole - in_python)) return false;
  state.operating = 0;
  return true;
}

void Host::start_memcpy(Nanos now, std::uint32_t thread, std::int64_t bytes, double bytes_per_s) {
  const auto work = static_cast<double>(bytes);
  if (cores_are_scarce_) {
    const double nanos = work / (bytes_per_s * kPerNs);
    threads_[thread].due = now + static_cast<Nanos>(nanos) + 1;
    serve(now, kCores, thread, nanos, 1);
  }
  serve(now, kMemory, thread, work, bytes_per_s * kPerNs);
}

void Host::serve(Nanos now, std::uint32_t which, std::uint32_t thread, double work, double limit) {
  const std::uint32_t rate = node_of(thread) * kRates + which;
  ++threads_[thread].rates_under_way;
  rates_[rate].admit(now, thread, work, limit);
  events_.add(rates_[rate].next_finish(), EventKind::kHostRate, rate, rates_[rate].version());
}

}  // namespace trainscope::sim
