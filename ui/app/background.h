// One value that another thread works out while the window goes on drawing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace trainscope::ui {

// Asking anew, or going away, stops what is under way: the work looks at `stopped` where it is
// long.
template <typename T>
class Background {
 public:
  using Stopped = std::function<bool()>;
  using Work = std::function<std::shared_ptr<T>(const Stopped& stopped)>;

  // The work must not throw.
  void start(Work work) {
    value_ = nullptr;
    auto slot = std::make_shared<Slot>();
    slot_ = slot;
    thread_ = std::jthread([slot, work = std::move(work)](const std::stop_token& stop) {
      slot->value = work([&stop] { return stop.stop_requested(); });
      slot->done.store(true, std::memory_order_release);
    });
  }

  // Something was asked for and is not there yet.
  bool busy() {
    get();
    return slot_ != nullptr;
  }

  // Null until it is there, and where the work gave nothing.
  const std::shared_ptr<T>& get() {
    if (slot_ && slot_->done.load(std::memory_order_acquire)) {
      value_ = std::move(slot_->value);
      slot_ = nullptr;
    }
    return value_;
  }

 private:
  struct Slot {
    std::shared_ptr<T> value;
    std::atomic<bool> done = false;
  };
  std::shared_ptr<T> value_;
  std::shared_ptr<Slot> slot_;
  std::jthread thread_;
};

}  // namespace trainscope::ui
