// A call that can be left in its middle and gone on with later: a stack of its own.
//
// The address sanitizer is told of every switch, so that it works inside. (The thread sanitizer is
// not: nothing here runs at once.)
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/emulator/switch_stack.h"

namespace trainscope::emulator {

// Memory for a stack, below it a page that nobody may touch: an overflow is a fault, not a wrong
// result.
class Stack {
 public:
  explicit Stack(std::size_t bytes);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* bottom() const;
  std::size_t size() const { return size_; }

 private:
  void* mapping_;
  std::size_t guard_;
  std::size_t size_;
};

class Fiber {
 public:
  using Body = void (*)(void* context);

  Fiber(Body body, void* context);
  // Its body must have returned.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body, or goes on with it, until it suspends itself or returns. After it has returned
  // the next resume calls it again. The body lets no exception out.
  void resume();

  // Called by the body: goes back to who resumed it.
  void suspend();

 private:
  void run();
  void switch_in();
  void switch_out(bool for_good);

  Body body_;
  void* context_;
  std::unique_ptr<Stack> stack_;
  StackPlace own_;
  StackPlace caller_;
  bool ending_ = false;
  // The caller's stack, which the address sanitizer wants to know.
  const void* caller_bottom_ = nullptr;
  std::size_t caller_size_ = 0;
};

}  // namespace trainscope::emulator
