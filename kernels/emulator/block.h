// The threads of one block: who runs, who waits for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/emulator/fiber.h"
#include "kernels/emulator/grid.h"

namespace trainscope::emulator {

inline constexpr std::size_t kWarp = 32;

// Numbers for an order, from a seed; without one always the first of what there is.
class Order {
 public:
  explicit Order(std::uint64_t seed) : seed_(seed) {}
  bool is_shuffled() const { return seed_ != 0; }
  std::size_t pick(std::size_t count);

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

// Runs one block after another; its fibers are kept from one to the next.
class Block {
 public:
  Block(const Grid& grid, const std::function<void()>& body, Order& order);

  // Throws what a thread threw, or why the threads cannot go on.
  void run(const Index3& index);

  // Of the thread that runs.
  int barrier(bool holds, const Source& source);
  std::uint64_t exchange(const WarpCall& call);
  int lane() const { return static_cast<int>(running_ % kWarp); }
  void* shared() { return shared_.get(); }
  std::uint64_t tick() { return ++ticks_; }
  std::string where(const Source& source) const;

 private:
  enum class State { kNew, kReady, kAtBarrier, kInWarp, kEnded };
  struct Thread {
    State state = State::kNew;
    Place place;
    Fiber* fiber = nullptr;  // while it waits, or is ready after that
    Source waits_at;
    bool holds = false;
    WarpCall call;
    std::uint64_t result = 0;
  };
  struct Abandoned {};  // thrown in threads that can never go on

  void begin(const Index3& index);
  void schedule();
  std::size_t next_ready();
  void make_running(std::size_t thread);
  Fiber& idle_fiber();
  void run_threads();
  void run_thread();
  void wait(State state, const Source& source);
  void release(std::size_t thread, std::uint64_t result);
  // The thread that completed a meeting goes on at once, or in its turn where the order is
  // shuffled.
  void go_on(const Source& source);
  void open_barrier();
  bool has_joined(std::size_t thread, const WarpCall& call) const;
  std::uint64_t outcome(std::size_t thread, const WarpCall& call) const;
  [[noreturn]] void throw_stuck() const;
  void abandon();
  [[noreturn]] void fail(const std::string& what, const Source& source) const;

  const Grid& grid_;
  const std::function<void()>& body_;
  Order& order_;
  std::vector<Thread> threads_;
  std::unique_ptr<std::byte[]> shared_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::deque<std::size_t> ready_;
  Fiber* fiber_ = nullptr;
  std::size_t running_ = 0;
  std::size_t at_barrier_ = 0;
  std::size_t ended_ = 0;
  std::uint64_t ticks_ = 0;
  bool abandoned_ = false;
  std::exception_ptr error_;
};

}  // namespace trainscope::emulator
