#include "cuda/plugin/left_behind.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace trainscope::cuda {
namespace {

struct Ending {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  bool is_left = false;
};

// Of the process: who takes its things down asks, not who has left the thread.
std::atomic<int>& left() {
  static std::atomic<int> threads = 0;
  return threads;
}

// The library's own objects and the driver's would go at exit, and the thread uses them.
void end_at_once(int code, void*) {
  if (!is_anything_left_behind()) return;
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

void end(Ending& ending) {
  const std::lock_guard held(ending.mutex);
  ending.is_over = true;
  if (ending.is_left) --left();
  ending.changed.notify_all();
}

void leave(Ending& ending) {
  const std::lock_guard held(ending.mutex);
  if (ending.is_over) return;
  ending.is_left = true;
  ++left();
  ::on_exit(end_at_once, nullptr);  // of glibc; the last that is registered comes first
}

}  // namespace

bool is_anything_left_behind() {
  return left() > 0;
}

std::string leave_behind_when(const std::function<std::string()>& why, std::function<void()> body,
                              const std::function<void()>& give_up) {
  constexpr std::chrono::milliseconds kBetween{5};
  const auto ending = std::make_shared<Ending>();
  std::thread([ending, body = std::move(body)] {
    body();
    end(*ending);
  }).detach();
  std::unique_lock held(ending->mutex);
  while (!ending->changed.wait_for(held, kBetween, [&] { return ending->is_over; })) {
    held.unlock();
    std::string sentence;
    try {
      sentence = why();
    } catch (...) {
      leave(*ending);
      give_up();
      throw;
    }
    if (!sentence.empty()) {
      leave(*ending);
      give_up();
      return sentence;
    }
    held.lock();
  }
  return "";
}

}  // namespace trainscope::cuda
