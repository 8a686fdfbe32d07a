// Work shared among threads.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace trainscope {

// Threads that each carry out `work`: `count` of them, or as many as this system has room for. What
// they share is then done by fewer. They are joined where the vector ends.
std::vector<std::jthread> start_helpers(std::size_t count, const std::function<void()>& work);

// Calls work(0) .. work(count - 1), each once, beside one another: this thread and up to seven
// more, as many as there are cores, each take the next one until none is left. What one throws is
// thrown here once all are done. Where it is not `worth` starting threads, this one does it all.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                 bool worth = true);

// The same by no more than `most` threads, and what is done is told in order: tell(i) is called,
// one call at a time, as soon as work(0) .. work(i) are over, also those that threw. Of what they
// threw the first, in that order, is thrown once all are told.
void in_order(std::size_t count, std::size_t most, const std::function<void(std::size_t)>& work,
              const std::function<void(std::size_t)>& tell);

// Work on so many elements of a trace (spans, say) or more is worth starting threads.
inline constexpr std::size_t kWorthThreads = 200'000;

}  // namespace trainscope
