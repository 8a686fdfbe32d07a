#include "sim/shared_rate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace trainscope::sim {
namespace {

constexpr Nanos kLongest = std::numeric_limits<Nanos>::max() / 4;

// What is not served at all takes as long as time lasts, until the rates change.
Nanos time_for(double work, double rate) {
  if (work >= static_cast<double>(kLongest) * rate) return kLongest;
  return static_cast<Nanos>(std::ceil(work / rate));
}

}  // namespace

void SharedRate::admit(Nanos now, std::uint32_t task, double work, double limit, int priority) {
  assert(work >= 0 && limit > 0);
  serve(now);
  tasks_.push_back({task, work, limit, priority, 0, now});
  share(now);
}

std::vector<std::uint32_t> SharedRate::finish(Nanos now) {
  std::vector<std::uint32_t> done;
  for (const Task& task : tasks_)
    if (task.done_at <= now) done.push_back(task.id);
  if (done.empty()) return done;
  serve(now);
  std::erase_if(tasks_, [&](const Task& task) { return task.done_at <= now; });
  share(now);
  return done;
}

Nanos SharedRate::next_finish() const {
  assert(!tasks_.empty());
  return std::min_element(tasks_.begin(), tasks_.end(),
                          [](const Task& a, const Task& b) { return a.done_at < b.done_at; })
      ->done_at;
}

void SharedRate::serve(Nanos now) {
  const auto elapsed = static_cast<double>(now - served_until_);
  for (Task& task : tasks_) task.remaining = std::max(0.0, task.remaining - task.rate * elapsed);
  served_until_ = now;
}

// Water filling, one priority after another: the tasks with the lowest limits first; what they
// leave goes to the others.
void SharedRate::share(Nanos now) {
  ++version_;
  order_.resize(tasks_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const Task &x = tasks_[a], &y = tasks_[b];
    return std::tie(x.priority, x.limit, a) < std::tie(y.priority, y.limit, b);
  });
  double left = capacity_;
  for (std::size_t first = 0; first < order_.size();) {
    const int priority = tasks_[order_[first]].priority;
    std::size_t last = first;
    while (last < order_.size() && tasks_[order_[last]].priority == priority) ++last;
    for (; first < last; ++first) {
      Task& task = tasks_[order_[first]];
      task.rate = std::min(task.limit, left / static_cast<double>(last - first));
      left = std::max(0.0, left - task.rate);
      // Rounded up: a task never takes less time than its work needs.
      task.done_at = now + (task.remaining > 0 ? time_for(task.remaining, task.rate) : 0);
    }
  }
}

}  // namespace trainscope::sim
