// What real host threads wait for among themselves: a program's queues and locks. A run that fails
// wakes all of them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stopped.h"
#include "program/program.h"

namespace trainscope::cuda {

// One of each for a whole run.
class HostWaits {
 public:
  explicit HostWaits(const program::Program& program);

  void push(program::Index queue, std::int64_t item);
  // The oldest item, or the one that is wanted.
  std::int64_t take(program::Index queue, std::optional<std::int64_t> wanted);

  // Waits until `ready`, which is asked again after each change. Every so often `look` is called,
  // which may throw. Both are called while no other thread changes anything.
  void wait_for(const std::function<bool()>& ready, const std::function<void()>& look);
  // Makes a change that others may wait for.
  void change(const std::function<void()>& make);
  // Who knows more of why no thread can go on says it in a sentence; an empty one: it does not.
  void explain(std::function<std::string()> why) { why_ = std::move(why); }

  void acquire(program::Index lock);  // in the order in which threads come
  void release(program::Index lock);

  // From here on every wait, also those under way, throws Abandoned.
  void stop();
  bool stopped() const;
  // Each thread calls this once it has ended, so that the others know when none can help them.
  void thread_ended();

 private:
  struct Queue {
    std::int64_t capacity = 0;
    std::deque<std::int64_t> items;
  };
  struct Lock {
    std::uint64_t next_ticket = 0;
    std::uint64_t served = 0;
  };
  // Waits until `ready`; throws Abandoned, and InputError when no thread is left to make it so.
  void wait(std::unique_lock<std::mutex>& held, const std::function<bool()>& ready,
            const std::function<void()>& look = nullptr);
  void changed();

  mutable std::mutex mutex_;
  std::condition_variable something_;
  std::vector<Queue> queues_;
  std::vector<Lock> locks_;
  std::function<std::string()> why_;
  std::size_t running_;
  std::size_t waiting_ = 0;
  std::uint64_t changes_ = 0;
  bool stopped_ = false;
};

}  // namespace trainscope::cuda
