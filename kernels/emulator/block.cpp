#include "kernels/emulator/block.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace trainscope::emulator {
namespace {

std::string text_of(const Index3& index) {
  return fmt::format("({}, {}, {})", index.x, index.y, index.z);
}

// From the folder of kernels on, wherever the sources are.
std::string text_of(const Source& source) {
  const std::string_view file = source.file_name();
  const std::size_t begin = file.rfind("kernels/");
  return fmt::format("{}:{}", begin == std::string_view::npos ? file : file.substr(begin),
                     source.line());
}

Index3 place_in(const Size3& size, std::size_t number) {
  const auto x = static_cast<unsigned>(number % size.x);
  const auto y = static_cast<unsigned>(number / size.x % size.y);
  return {x, y, static_cast<unsigned>(number / size.x / size.y)};
}

bool same(const Source& a, const Source& b) {
  return a.line() == b.line() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

std::size_t Order::pick(std::size_t count) {
  return seed_ == 0 ? 0 : random_word(seed_, drawn_++) % count;
}

Block::Block(const Grid& grid, const std::function<void()>& body, Order& order)
    : grid_(grid),
      body_(body),
      order_(order),
      threads_(grid.threads.volume()),
      shared_(std::make_unique<std::byte[]>(grid.shared_bytes)) {}

void Block::run(const Index3& index) {
  begin(index);
  try {
    schedule();
    if (!error_ && ended_ != threads_.size()) throw_stuck();
  } catch (...) {
    error_ = std::current_exception();
  }
  if (!error_) return;
  abandon();
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void Block::begin(const Index3& index) {
  constexpr int kNanBytes = 0xff;
  if (grid_.shared_bytes != 0) std::memset(shared_.get(), kNanBytes, grid_.shared_bytes);
  at_barrier_ = 0;
  ended_ = 0;
  abandoned_ = false;
  ready_.clear();
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    threads_[t] = {};
    threads_[t].place = {place_in(grid_.threads, t), index, grid_.threads, grid_.blocks};
    ready_.push_back(t);
  }
}

void Block::schedule() {
  while (!ready_.empty() && !error_) {
    const std::size_t next = next_ready();
    make_running(next);
    Fiber* waiting = threads_[next].fiber;
    fiber_ = waiting != nullptr ? waiting : &idle_fiber();
    fiber_->resume();
  }
}

std::size_t Block::next_ready() {
  std::swap(ready_.front(), ready_[order_.pick(ready_.size())]);
  const std::size_t next = ready_.front();
  ready_.pop_front();
  return next;
}

void Block::make_running(std::size_t thread) {
  running_ = thread;
  running_place = &threads_[thread].place;
}

Fiber& Block::idle_fiber() {
  if (idle_.empty()) {
    const auto body = [](void* block) { static_cast<Block*>(block)->run_threads(); };
    fibers_.push_back(std::make_unique<Fiber>(body, this));
    idle_.push_back(fibers_.back().get());
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return *fiber;
}

// The body of a fiber: a thread, and then others that are new for as long as none has to wait, so
// that a kernel without barriers needs one fiber only.
void Block::run_threads() {
  Fiber* own = fiber_;
  run_thread();
  while (!error_ && !ready_.empty()) {
    const std::size_t next = next_ready();
    if (threads_[next].state != State::kNew) {
      ready_.push_front(next);
      break;
    }
    fiber_ = own;
    make_running(next);
    run_thread();
  }
  idle_.push_back(own);
}

void Block::run_thread() {
  try {
    body_();
  } catch (const Abandoned&) {
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  threads_[running_].state = State::kEnded;
  ++ended_;
}

void Block::wait(State state, const Source& source) {
  Thread& own = threads_[running_];
  own.state = state;
  own.waits_at = source;
  own.fiber = fiber_;
  fiber_->suspend();
  if (abandoned_) throw Abandoned{};
}

void Block::release(std::size_t thread, std::uint64_t result) {
  threads_[thread].result = result;
  threads_[thread].state = State::kReady;
  if (thread != running_) ready_.push_back(thread);
}

void Block::go_on(const Source& source) {
  if (!order_.is_shuffled()) return;
  ready_.push_back(running_);
  wait(State::kReady, source);
}

int Block::barrier(bool holds, const Source& source) {
  const std::size_t own = running_;
  threads_[own].holds = holds;
  threads_[own].waits_at = source;
  threads_[own].state = State::kAtBarrier;
  if (++at_barrier_ < threads_.size()) {
    wait(State::kAtBarrier, source);
  } else {
    open_barrier();
    go_on(source);
  }
  return static_cast<int>(threads_[own].result);
}

void Block::open_barrier() {
  const Source& here = threads_[running_].waits_at;
  std::uint64_t holding = 0;
  for (const Thread& thread : threads_) {
    if (!same(thread.waits_at, here)) {
      fail(fmt::format("thread {} waits at another barrier, at {}", text_of(thread.place.thread),
                       text_of(thread.waits_at)),
           here);
    }
    holding += thread.holds ? 1 : 0;
  }
  at_barrier_ = 0;
  for (std::size_t t = 0; t < threads_.size(); ++t) release(t, holding);
}

std::uint64_t Block::exchange(const WarpCall& call) {
  const std::size_t own = running_;
  const std::size_t first = own - own % kWarp;
  const auto named = [&](std::size_t l) { return ((call.mask >> l) & 1) != 0; };
  if (!named(own % kWarp))
    fail("the mask of a warp's exchange lacks the calling lane", call.source);
  threads_[own].call = call;
  threads_[own].state = State::kInWarp;
  bool complete = true;
  for (std::size_t l = 0; l < kWarp; ++l) {
    if (!named(l)) continue;
    if (first + l >= threads_.size()) {
      fail(fmt::format("the mask names lane {}, which the warp does not have", l), call.source);
    }
    complete = complete && has_joined(first + l, call);
  }
  if (!complete) {
    wait(State::kInWarp, call.source);
    return threads_[own].result;
  }
  std::uint64_t results[kWarp] = {};
  for (std::size_t l = 0; l < kWarp; ++l) {
    if (named(l)) results[l] = outcome(first + l, threads_[first + l].call);
  }
  for (std::size_t l = 0; l < kWarp; ++l) {
    if (named(l)) release(first + l, results[l]);
  }
  go_on(call.source);
  return threads_[own].result;
}

bool Block::has_joined(std::size_t thread, const WarpCall& call) const {
  const Thread& other = threads_[thread];
  if (other.state != State::kInWarp || other.call.mask != call.mask) return false;
  if (other.call.exchange == call.exchange && same(other.call.source, call.source)) return true;
  fail(fmt::format("thread {} is in another exchange of the warp, at {}",
                   text_of(other.place.thread), text_of(other.call.source)),
       call.source);
}

std::uint64_t Block::outcome(std::size_t thread, const WarpCall& call) const {
  const std::size_t first = thread - thread % kWarp;
  if (call.exchange == Exchange::kRead) {
    if (((call.mask >> call.from) & 1) == 0) {
      fail(fmt::format("thread {} reads from lane {}, which the mask does not name",
                       text_of(threads_[thread].place.thread), call.from),
           call.source);
    }
    return threads_[first + static_cast<std::size_t>(call.from)].call.value;
  }
  std::uint64_t bits = 0;
  for (std::size_t l = 0; l < kWarp; ++l) {
    if (((call.mask >> l) & 1) == 0) continue;
    if (threads_[first + l].call.value != 0) bits |= std::uint64_t{1} << l;
  }
  return bits;
}

void Block::throw_stuck() const {
  const Thread* waiting = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.state != State::kEnded && waiting == nullptr) waiting = &thread;
  }
  const std::size_t left = threads_.size() - ended_;
  const char* what = waiting->state == State::kAtBarrier ? "a barrier" : "an exchange of its warp";
  throw Error(
      Fault::kInternal,
      fmt::format("kernel {}: thread {} of block {} waits for ever at {}, {}: {} of {} "
                  "threads reached a barrier, {} ended, {} are left",
                  grid_.kernel, text_of(waiting->place.thread), text_of(waiting->place.block), what,
                  text_of(waiting->waits_at), at_barrier_, threads_.size(), ended_, left));
}

// Ends the threads that wait, so that their stacks are free.
void Block::abandon() {
  abandoned_ = true;
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    Thread& thread = threads_[t];
    if (thread.fiber == nullptr || thread.state == State::kEnded) continue;
    make_running(t);
    fiber_ = thread.fiber;
    fiber_->resume();
  }
}

std::string Block::where(const Source& source) const {
  const Place& place = threads_[running_].place;
  return fmt::format("kernel {}, thread {} of block {}, {}", grid_.kernel, text_of(place.thread),
                     text_of(place.block), text_of(source));
}

void Block::fail(const std::string& what, const Source& source) const {
  throw Error(Fault::kInternal, fmt::format("{}: {}", where(source), what));
}

}  // namespace trainscope::emulator
