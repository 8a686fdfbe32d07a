#include "stand_in/queue.h"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <thread>
#include <utility>

#include "stand_in/options.h"

namespace trainscope::stand_in {

Nanos host_time() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// The thread is the process's: it ends with it.
Queue::Queue(std::function<void(const Op&)> tell)
    : tell_(std::move(tell)), random_(options().seed) {
  std::thread([this] { work(); }).detach();
}

OpRef Queue::add(Work work, int gpu, std::uint32_t correlation, const std::vector<OpRef>& behind) {
  auto op =
      std::make_shared<Op>(Op{.work = std::move(work), .gpu = gpu, .correlation = correlation});
  const std::lock_guard held(mutex_);
  ++open_;
  for (const OpRef& before : behind) {
    if (!before || before->done) continue;
    before->after.push_back(op);
    ++op->behind;
  }
  if (op->behind == 0) ready_.push_back(op);
  changed_.notify_all();
  return op;
}

OpRef Queue::add_held() {
  auto op = std::make_shared<Op>(Op{.work = {}, .behind = 1, .is_held = true});
  const std::lock_guard held(mutex_);
  ++open_;
  held_.push_back(op);
  if (!failure_.empty()) let_go(op);
  return op;
}

void Queue::release(const OpRef& op) {
  const std::lock_guard held(mutex_);
  let_go(op);
  changed_.notify_all();
}

// Locked.
void Queue::let_go(const OpRef& op) {
  if (!std::exchange(op->is_held, false)) return;
  std::erase(held_, op);
  if (--op->behind == 0) ready_.push_back(op);
}

void Queue::wait(const OpRef& op) {
  std::unique_lock held(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(held, [&] { return !op || op->done; });
  --waiting_;
}

bool Queue::is_done(const OpRef& op) {
  const std::lock_guard held(mutex_);
  if (!op || op->done) return true;
  // What is asked for while nothing can be done is asked for again.
  if (asked_ < static_cast<int>(ready_.size())) ++asked_;
  changed_.notify_all();
  return false;
}

void Queue::wait_for_all() {
  std::unique_lock held(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(held, [&] { return open_ == 0; });
  --waiting_;
}

std::string Queue::failure() const {
  const std::lock_guard held(mutex_);
  return failure_;
}

OpRef Queue::next() {
  std::unique_lock held(mutex_);
  changed_.wait(held,
                [&] { return !ready_.empty() && (!options().late || waiting_ > 0 || asked_ > 0); });
  if (asked_ > 0) --asked_;
  std::swap(ready_[random_() % ready_.size()], ready_.back());
  OpRef op = std::move(ready_.back());
  ready_.pop_back();
  if (op->work.kind == WorkKind::kKernel) {
    ++kernels_;
    if (kernels_ == options().lost_at) failure_ = "the stand-in was told to fail";
    if (kernels_ == options().dies_at) std::raise(SIGKILL);
  }
  if (!failure_.empty()) op->work.run = nullptr;
  return op;
}

void Queue::finish(const OpRef& op) {
  const std::lock_guard held(mutex_);
  op->done = true;
  op->work.run = nullptr;
  op->work.since = nullptr;
  for (const OpRef& after : std::exchange(op->after, {}))
    if (--after->behind == 0) ready_.push_back(after);
  if (!failure_.empty())
    while (!held_.empty()) let_go(OpRef(held_.back()));
  --open_;
  changed_.notify_all();
}

void Queue::work() {
  while (true) {
    const OpRef op = next();
    op->begun = op->work.since ? op->work.since->begun : host_time();
    try {
      if (op->work.run) op->work.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "stand-in: %s\n", error.what());
      const std::lock_guard held(mutex_);
      failure_ = error.what();
    }
    op->ended = host_time();
    if (failure().empty()) tell_(*op);
    finish(op);
  }
}

}  // namespace trainscope::stand_in
