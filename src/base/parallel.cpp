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

}  // namespace trainscope
