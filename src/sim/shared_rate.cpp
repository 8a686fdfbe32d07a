#include "sim/shared_rate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>

namespace trainscope::sim {
namespace {

// What is not served at all takes as long as time lasts, until the rates change.
Nanos time_for(double work, double rate) {
  if (work >= static_cast<double>(SharedRate::kNever) * rate) return SharedRate::kNever;
  return static_cast<Nanos>(std::ceil(work / rate));
}

}  // namespace

void SharedRate::admit(Nanos now, std::uint32_t task, double work, double limit) {
  assert(work >= 0 && limit > 0);
  serve(now);
  tasks_.push_back({task, work, limit, 0, now});
  share(now);
}

const std::vector<std::uint32_t>& SharedRate::finish(Nanos now) {
  done_.clear();
  for (const Task& task : tasks_)
    if (task.done_at <= now) done_.push_back(task.id);
  if (done_.empty()) return done_;
  serve(now);
  std::erase_if(tasks_, [&](const Task& task) { return task.done_at <= now; });
  share(now);
  return done_;
}

Nanos SharedRate::next_finish() const {
  assert(!tasks_.empty());
  return std::min_element(tasks_.begin(), tasks_.end(),
                          [](const Task& a, const Task& b) { return a.done_at < b.done_at; })
      ->done_at;
}

double SharedRate::in_use() const {
  return std::accumulate(tasks_.begin(), tasks_.end(), 0.0,
                         [](double sum, const Task& task) { return sum + task.rate; });
}

void SharedRate::serve(Nanos now) {
  const auto elapsed = static_cast<double>(now - served_until_);
  for (Task& task : tasks_) task.remaining = std::max(0.0, task.remaining - task.rate * elapsed);
  served_until_ = now;
}

// Rounded up: a task never takes less time than its work needs.
void SharedRate::serve_at(Task& task, double rate, Nanos now) {
  task.rate = rate;
  task.done_at = now + (task.remaining > 0 ? time_for(task.remaining, rate) : 0);
}

// Water filling: the tasks with the lowest limits first; what they leave goes to the others.
void SharedRate::share(Nanos now) {
  ++version_;
  if (tasks_.size() == 1) {
    serve_at(tasks_.front(), std::min(tasks_.front().limit, capacity_), now);
    return;
  }
  order_.resize(tasks_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const Task &x = tasks_[a], &y = tasks_[b];
    return std::tie(x.limit, a) < std::tie(y.limit, b);
  });
  double left = capacity_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Task& task = tasks_[order_[i]];
    serve_at(task, std::min(task.limit, left / static_cast<double>(order_.size() - i)), now);
    left = std::max(0.0, left - task.rate);
  }
}

}  // namespace trainscope::sim
