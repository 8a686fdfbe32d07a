#include "sim/shared_rate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace trainscope::sim {

void SharedRate::admit(Nanos now, std::uint32_t task, double work, double limit) {
  assert(work >= 0 && limit > 0);
  serve(now);
  tasks_.push_back({task, work, limit, 0, now});
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

// Water filling: the tasks with the lowest limits first; what they leave goes to the others.
void SharedRate::share(Nanos now) {
  ++version_;
  order_.resize(tasks_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return tasks_[a].limit != tasks_[b].limit ? tasks_[a].limit < tasks_[b].limit : a < b;
  });
  double left = capacity_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Task& task = tasks_[order_[i]];
    task.rate = std::min(task.limit, left / static_cast<double>(order_.size() - i));
    left -= task.rate;
    // Rounded up: a task never takes less time than its work needs.
    task.done_at = now + static_cast<Nanos>(std::ceil(task.remaining / task.rate));
  }
}

}  // namespace trainscope::sim
