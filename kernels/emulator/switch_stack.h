// Going from one stack to another, with the registers that a call keeps. The C library's
// swapcontext asks the kernel for the signal mask at each switch, which takes longer than most
// threads of a block run; here no system call is made.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && defined(__ELF__)
#define TRAINSCOPE_SWITCHES_STACKS
#else
#include <ucontext.h>
#endif

namespace trainscope::emulator {

// A place to go on from.
class StackPlace {
 public:
  StackPlace() = default;
  StackPlace(const StackPlace&) = delete;
  StackPlace& operator=(const StackPlace&) = delete;

  // Makes it the beginning of entry(context), which never returns, on a stack of `size` bytes.
  void begin(void* bottom, std::size_t size, void (*entry)(void*), void* context);

  // Goes on at `to`; returns once somebody goes on at `from`.
  static void go(StackPlace& from, StackPlace& to);

 private:
#ifdef TRAINSCOPE_SWITCHES_STACKS
  void* top_ = nullptr;  // what the stack holds there: the registers kept, and where to go on
#else
  ucontext_t context_{};
#endif
};

}  // namespace trainscope::emulator
