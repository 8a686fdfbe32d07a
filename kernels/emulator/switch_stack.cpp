#include "kernels/emulator/switch_stack.h"

#include <cstdint>

namespace trainscope::emulator {

#ifdef TRAINSCOPE_SWITCHES_STACKS

// System V's calling convention for x86-64: rbx, rbp and r12 to r15 outlive a call. A new stack
// begins with the entry's argument in r12 and the entry itself in r13.
extern "C" void trainscope_go_to_stack(void** from, void* to);
extern "C" void trainscope_begin_stack();
asm(R"(
.text
.globl trainscope_go_to_stack
.hidden trainscope_go_to_stack
.type trainscope_go_to_stack, @function
trainscope_go_to_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size trainscope_go_to_stack, .-trainscope_go_to_stack

.globl trainscope_begin_stack
.hidden trainscope_begin_stack
.type trainscope_begin_stack, @function
trainscope_begin_stack:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  call *%r13
  ud2
  .cfi_endproc
.size trainscope_begin_stack, .-trainscope_begin_stack
)");

void StackPlace::begin(void* bottom, std::size_t size, void (*entry)(void*), void* context) {
  constexpr std::uintptr_t kAligned = 16;  // as it must be before a call
  const auto end = (reinterpret_cast<std::uintptr_t>(bottom) + size) / kAligned * kAligned;
  auto* top = reinterpret_cast<std::uintptr_t*>(end);
  *--top = reinterpret_cast<std::uintptr_t>(&trainscope_begin_stack);
  *--top = 0;                                          // rbp
  *--top = 0;                                          // rbx
  *--top = reinterpret_cast<std::uintptr_t>(context);  // r12
  *--top = reinterpret_cast<std::uintptr_t>(entry);    // r13
  *--top = 0;                                          // r14
  *--top = 0;                                          // r15
  top_ = top;
}

void StackPlace::go(StackPlace& from, StackPlace& to) {
  trainscope_go_to_stack(&from.top_, to.top_);
}

#else

namespace {

// makecontext passes only ints on.
void enter(unsigned entry_high, unsigned entry_low, unsigned high, unsigned low) {
  const auto joined = [](unsigned upper, unsigned lower) {
    return static_cast<std::uintptr_t>((std::uint64_t{upper} << 32) | lower);
  };
  reinterpret_cast<void (*)(void*)>(joined(entry_high, entry_low))(
      reinterpret_cast<void*>(joined(high, low)));
}

}  // namespace

void StackPlace::begin(void* bottom, std::size_t size, void (*entry)(void*), void* context) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = bottom;
  context_.uc_stack.ss_size = size;
  context_.uc_link = nullptr;
  const std::uint64_t first{reinterpret_cast<std::uintptr_t>(entry)};
  const std::uint64_t second{reinterpret_cast<std::uintptr_t>(context)};
  makecontext(&context_, reinterpret_cast<void (*)()>(&enter), 4,
              static_cast<unsigned>(first >> 32), static_cast<unsigned>(first),
              static_cast<unsigned>(second >> 32), static_cast<unsigned>(second));
}

void StackPlace::go(StackPlace& from, StackPlace& to) {
  swapcontext(&from.context_, &to.context_);
}

#endif

}  // namespace trainscope::emulator
