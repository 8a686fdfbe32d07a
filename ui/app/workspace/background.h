// One value that another thread works out while the window goes on drawing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ui/app/workspace/caught.h"

namespace trainscope::ui {

// Asking anew, or going away, stops what is under way: the work looks at `stopped` where it is
// long. Asking anew waits for nothing. What the work throws is a sentence in the value's place.
template <typename T>
class Background {
 public:
  using Stopped = std::function<bool()>;
  using Work = std::function<std::shared_ptr<T>(const Stopped& stopped)>;

  void start(Work work) {
    drop();
    std::erase_if(jobs_, [](const Job& job) { return job.slot->done.load(); });
    auto slot = std::make_shared<Slot>();
    const auto run = [slot, work = std::move(work)](const std::stop_token& stop) {
      try {
        slot->value = work([&stop] { return stop.stop_requested(); });
      } catch (...) {
        slot->error = caught_sentence();
      }
      slot->done.store(true, std::memory_order_release);
    };
    wanted_ = slot;
    try {
      jobs_.push_back({slot, std::jthread(run)});
    } catch (...) {  // no thread could be begun
      slot->error = caught_sentence();
      slot->done = true;
    }
  }

  // Nothing is asked for any more.
  void drop() {
    for (Job& job : jobs_) job.thread.request_stop();
    wanted_ = nullptr;
    value_ = nullptr;
    error_.clear();
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
      error_ = std::move(wanted_->error);
      wanted_ = nullptr;
    }
    return value_;
  }

  // Why there is nothing: what the work threw, in one sentence. Empty until it is over, and where
  // it came to its end.
  const std::string& error() {
    get();
    return error_;
  }

 private:
  struct Slot {
    std::shared_ptr<T> value;
    std::string error;
    std::atomic<bool> done = false;
  };
  struct Job {
    std::shared_ptr<Slot> slot;
    std::jthread thread;
  };
  std::shared_ptr<T> value_;
  std::string error_;
  std::shared_ptr<Slot> wanted_;
  std::vector<Job> jobs_;  // the newest and those that are being stopped
};

}  // namespace trainscope::ui
