#include "cuda/plugin/left_behind.h"

#include <chrono>
#include <condition_variable>
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
};

}  // namespace

std::string leave_behind_when(const std::function<std::string()>& why, std::function<void()> body) {
  constexpr std::chrono::milliseconds kBetween{5};
  const auto ending = std::make_shared<Ending>();
  std::thread([ending, body = std::move(body)] {
    body();
    const std::lock_guard held(ending->mutex);
    ending->is_over = true;
    ending->changed.notify_all();
  }).detach();
  std::unique_lock held(ending->mutex);
  while (!ending->changed.wait_for(held, kBetween, [&] { return ending->is_over; })) {
    held.unlock();
    if (std::string sentence = why(); !sentence.empty()) return sentence;
    held.lock();
  }
  return "";
}

}  // namespace trainscope::cuda
