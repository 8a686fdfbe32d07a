// One value that another thread works out while the window goes on drawing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace trainscope::ui {

// Asking anew, or going away, stops what is under way: the work looks at `stopped` where it is
// long. Asking anew waits for nothing.
template <typename T>
class Background {
 public:
  using Stopped = std::function<bool()>;
  using Work = std::function<std::shared_ptr<T>(const Stopped& stopped)>;

  // The work must not throw.
  void start(Work work) {
    value_ = nullptr;
    std::erase_if(jobs_, [](const Job& job) { return job.slot->done.load(); });
    for (Job& job : jobs_) job.thread.request_stop();
    auto slot = std::make_shared<Slot>();
    const auto run = [slot, work = std::move(work)](const std::stop_token& stop) {
      slot->value = work([&stop] { return stop.stop_requested(); });
      slot->done.store(true, std::memory_order_release);
    };
    wanted_ = slot;
    jobs_.push_back({slot, std::jthread(run)});
  }

  // Nothing is asked for any more.
  void drop() {
    for (Job& job : jobs_) job.thread.request_stop();
    wanted_ = nullptr;
    value_ = nullptr;
  }

  // Something was asked for and is not there yet.
  bool busy() {
    get();
    return wanted_ != nullptr;
  }

  // Null until it is there, and where the work gave nothing.
  const std::shared_ptr<T>& get() {
    if (wanted_ && wanted_->done.load(std::memory_order_acquire)) {
      value_ = std::move(wanted_->value);
      wanted_ = nullptr;
    }
    return value_;
  }

 private:
  struct Slot {
    std::shared_ptr<T> value;
    std::atomic<bool> done = false;
  };
  struct Job {
    std::shared_ptr<Slot> slot;
    std::jthread thread;
  };
  std::shared_ptr<T> value_;
  std::shared_ptr<Slot> wanted_;
  std::vector<Job> jobs_;  // the newest and those that are being stopped
};

}  // namespace trainscope::ui
