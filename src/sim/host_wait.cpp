// What host threads wait for among themselves: queues and locks.

#include <algorithm>

#include "sim/host.h"

namespace trainscope::sim {

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
                program::Index index, std::optional<std::int64_t> item) {
  ThreadState& state = threads_[thread];
  QueueState& queue = queues_[index];
  const auto found = std::find_if(queue.items.begin(), queue.items.end(),
                                  [&](const Item& one) { return !item || one.value == *item; });
  if (found == queue.items.end()) {
    state.waits_since = state.begun;
    queue.waiting.push_back(thread);
    return false;
  }
  state.item = found->value;
  state.producer = found->producer;
  queue.items.erase(found);
  wake_all(now, queue);
  // Workers, the pin thread and autograd's rest while they wait, and threads of a recording, whose
  // calls it knows; the training thread is held, or in a call that has a name of its own.
  const bool rests =
      program_.threads[thread].role != program::ThreadRole::kMain || program_.recording.trace;
  if (!rests && command.name != program::kNoIndex) {
    call_until_given(now, thread, command);
  } else if (!rests) {
    wait_span(state.waits_since, now, thread, command, recorder_.name("waits for data"),
              trace::Cause::kData, state.producer);
  }
  state.giver = state.producer;
  return true;
}

void Host::wake_all(Nanos now, QueueState& queue) {
  for (const std::uint32_t waiting : queue.waiting) events_.add(now, EventKind::kThread, waiting);
  queue.waiting.clear();
}

bool Host::acquire(Nanos now, std::uint32_t thread, const program::Command& command,
                   program::Index index) {
  ThreadState& state = threads_[thread];
  LockState& lock = locks_[index];
  if (lock.owner == kNoThread) lock.owner = thread;
  if (lock.owner == thread) {
    if (state.lock_since >= 0)
      wait_span(state.lock_since, now, thread, command, lock.wait_name, trace::Cause::kLock,
                lock.last_span);
    state.lock_since = -1;
    return true;
  }
  if (state.lock_since < 0) {
    state.lock_since = now;
    lock.waiting.push_back(thread);
  }
  return false;
}

void Host::release(Nanos now, std::uint32_t thread, program::Index index) {
  LockState& lock = locks_[index];
  lock.last_span = threads_[thread].last_span;
  lock.owner = kNoThread;
  if (lock.waiting.empty()) return;
  lock.owner = lock.waiting.front();
  lock.waiting.pop_front();
  events_.add(now, EventKind::kThread, lock.owner);
}

}  // namespace trainscope::sim
