#include "cuda/host_waits.h"

#include <chrono>

#include "base/error.h"

namespace trainscope::cuda {

HostWaits::HostWaits(const program::Program& program)
    : locks_(program.locks.size()), running_(program.threads.size()) {
  for (const program::Queue& queue : program.queues) queues_.push_back({queue.capacity, {}});
}

void HostWaits::wait(std::unique_lock<std::mutex>& held, const std::function<bool()>& ready,
                     const std::function<void()>& look) {
  constexpr std::chrono::milliseconds kLook{20};
  while (true) {
    if (stopped_) throw Abandoned{};
    if (ready()) return;
    if (++waiting_ == running_) {
      --waiting_;
      stopped_ = true;
      something_.notify_all();
      const std::string why = why_ ? why_() : "";
      throw InputError(why.empty() ? "the program cannot go on: every host thread waits for another"
                                   : why);
    }
    const auto woken = [this, before = changes_] { return stopped_ || changes_ != before; };
    // Who made the change has counted all who wait as going on.
    if (!look) {
      something_.wait(held, woken);
    } else if (!something_.wait_for(held, kLook, woken)) {
      --waiting_;
      look();
    }
  }
}

// All who wait look again, and are counted as going on meanwhile.
void HostWaits::changed() {
  ++changes_;
  waiting_ = 0;
  something_.notify_all();
}

void HostWaits::wait_for(const std::function<bool()>& ready, const std::function<void()>& look) {
  std::unique_lock held(mutex_);
  wait(held, ready, look);
}

void HostWaits::change(const std::function<void()>& make) {
  const std::lock_guard held(mutex_);
  make();
  changed();
}

void HostWaits::push(program::Index index, std::int64_t item) {
  std::unique_lock held(mutex_);
  Queue& queue = queues_[index];
  wait(held, [&] { return static_cast<std::int64_t>(queue.items.size()) < queue.capacity; });
  queue.items.push_back(item);
  changed();
}

std::int64_t HostWaits::take(program::Index index, std::optional<std::int64_t> wanted) {
  std::unique_lock held(mutex_);
  Queue& queue = queues_[index];
  const auto found = [&] {
    return wanted ? std::find(queue.items.begin(), queue.items.end(), *wanted)
                  : queue.items.begin();
  };
  wait(held, [&] { return found() != queue.items.end(); });
  const auto place = found();
  const std::int64_t item = *place;
  queue.items.erase(place);
  changed();
  return item;
}

void HostWaits::acquire(program::Index index) {
  std::unique_lock held(mutex_);
  Lock& lock = locks_[index];
  const std::uint64_t ticket = lock.next_ticket++;
  wait(held, [&] { return lock.served == ticket; });
}

void HostWaits::release(program::Index index) {
  const std::lock_guard held(mutex_);
  ++locks_[index].served;
  changed();
}

void HostWaits::stop() {
  const std::lock_guard held(mutex_);
  stopped_ = true;
  something_.notify_all();
}

bool HostWaits::stopped() const {
  const std::lock_guard held(mutex_);
  return stopped_;
}

void HostWaits::thread_ended() {
  const std::lock_guard held(mutex_);
  --running_;
  // The others look again, and find out if they are all that is left and none can go on.
  changed();
}

}  // namespace trainscope::cuda
