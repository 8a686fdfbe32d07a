#include "host/workers.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace trainscope::host {
namespace {

// How often a thread looks before it sleeps or gives way. Operations follow one another within
// microseconds, and to wake a sleeping thread takes tens of them.
constexpr int kLooks = 2000;

void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

constexpr int kClosed = -1;

}  // namespace

// The caller opens the door to a task, works on it, and closes the door when all that came in have
// left. A helper that wakes too late finds it closed: nobody waits for a sleeping thread.
class Workers::Pool {
 public:
  explicit Pool(int helpers)
      : helpers_(start_helpers(static_cast<std::size_t>(helpers), [this] { help(); })) {}

  ~Pool() {
    ending_.store(true);
    announce();
  }

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  void run(std::size_t parts, const Task& task) {
    task_ = task;
    parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    door_.store(0, std::memory_order_release);
    announce();
    work();
    close_door();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void announce() {
    tasks_.fetch_add(1);
    tasks_.notify_all();
  }

  void work() {
    for (;;) {
      const std::size_t part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts_) return;
      try {
        task_.call(task_.context, part);
      } catch (...) {
        const std::lock_guard held(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    }
  }

  void close_door() {
    int looks = 0;
    for (int inside = 0; !door_.compare_exchange_weak(inside, kClosed, std::memory_order_acq_rel);
         inside = 0) {
      if (++looks < kLooks) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

  bool come_in() {
    int inside = door_.load();
    while (inside != kClosed) {
      if (door_.compare_exchange_weak(inside, inside + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  void help() {
    unsigned seen = 0;
    for (;;) {
      for (int looks = 0; looks < kLooks && tasks_.load() == seen; ++looks) pause();
      tasks_.wait(seen);
      seen = tasks_.load();
      if (ending_.load()) return;
      if (!come_in()) continue;
      work();
      door_.fetch_sub(1, std::memory_order_release);
    }
  }

  Task task_{};
  std::size_t parts_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;  // of a part; none between two tasks
  std::atomic<std::size_t> next_{0};
  std::atomic<int> door_{kClosed};  // how many helpers are at work
  std::atomic<unsigned> tasks_{0};  // how many there were
  std::atomic<bool> ending_{false};
  std::vector<std::jthread> helpers_;  // last: they use the others
};

Workers::Workers() = default;

Workers::Workers(int threads) {
  if (threads < 1) {
    throw InputError(fmt::format("work needs at least 1 thread, not {}", threads));
  }
  if (threads > 1) pool_ = std::make_unique<Pool>(threads - 1);
}

Workers::~Workers() = default;

int Workers::threads() const {
  return pool_ ? pool_->threads() : 1;
}

void Workers::share(std::size_t parts, const Task& task) const {
  if (pool_ && parts > 1) {
    pool_->run(parts, task);
    return;
  }
  for (std::size_t part = 0; part < parts; ++part) task.call(task.context, part);
}

}  // namespace trainscope::host
