// Work shared among threads.
#pragma once

#include <cstddef>
#include <functional>

namespace trainscope {

// Calls work(0) .. work(count - 1), each once, beside one another: this thread and up to seven
// more, as many as there are cores, each take the next one until none is left. What one throws is
// thrown here once all are done. Where it is not `worth` starting threads, this one does it all.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                 bool worth = true);

// Elements of a trace, from which on it is.
inline constexpr std::size_t kWorthThreads = 200'000;

}  // namespace trainscope
