#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace trainscope {

std::vector<std::jthread> start_helpers(std::size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> helpers;
  helpers.reserve(count);
  try {
    while (helpers.size() < count) helpers.emplace_back(work);
  } catch (const std::exception&) {
    // No room for a stack, or no more threads of this user: those that there are will do.
  }
  return helpers;
}

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
    const std::size_t threads = std::min({std::max<std::size_t>(count, 1), cores, kMostThreads});
    const std::vector<std::jthread> others = start_helpers(threads - 1, take_all);
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
