#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trainscope {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work, bool worth) {
  constexpr std::size_t kMostThreads = 8;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_all = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  {
    const std::size_t cores = worth ? std::max(std::thread::hardware_concurrency(), 1U) : 1;
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min({count, cores, kMostThreads}); ++i)
      others.emplace_back(take_all);
    take_all();
  }
  if (failure) std::rethrow_exception(failure);
}

void in_order(std::size_t count, std::size_t most, const std::function<void(std::size_t)>& work,
              const std::function<void(std::size_t)>& tell) {
  struct Slot {
    bool done = false;
    std::exception_ptr failure;
  };
  std::vector<Slot> slots(count);
  std::mutex mutex;
  std::size_t told = 0;
  std::atomic<std::size_t> next = 0;
  const auto take_all = [&](std::size_t) {
    for (std::size_t i = next++; i < count; i = next++) {
      std::exception_ptr failure;
      try {
        work(i);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      slots[i] = {true, failure};
      for (; told < count && slots[told].done; ++told) tell(told);
    }
  };
  in_parallel(std::min(count, most), take_all);
  for (const Slot& slot : slots)
    if (slot.failure) std::rethrow_exception(slot.failure);
}

}  // namespace trainscope
