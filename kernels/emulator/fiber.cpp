#include "kernels/emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#if defined(__has_feature)
#define TRAINSCOPE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TRAINSCOPE_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || TRAINSCOPE_HAS_FEATURE(address_sanitizer)
#define TRAINSCOPE_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace trainscope::emulator {
namespace {

// Kernels keep little on their stacks; what sanitizers put between variables, and a thrown error,
// need more.
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

// What the address sanitizer keeps for a stack that is left; null where there is none.
struct LeftStack {
  void* kept = nullptr;

  // Before the switch to another stack. `for_good`: this one is not come back to.
  void leave([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t size,
             [[maybe_unused]] bool for_good = false) {
#ifdef TRAINSCOPE_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(for_good ? nullptr : &kept, bottom, size);
#endif
  }
  // After it; says which stack was left.
  void arrive([[maybe_unused]] const void** bottom, [[maybe_unused]] std::size_t* size) const {
#ifdef TRAINSCOPE_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(kept, bottom, size);
#endif
  }
};

}  // namespace

Stack::Stack(std::size_t bytes)
    : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_(bytes) {
  mapping_ = mmap(nullptr, guard_ + size_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(mapping_, guard_, PROT_NONE) != 0) {
    munmap(mapping_, guard_ + size_);
    throw std::bad_alloc();
  }
}

Stack::~Stack() {
  munmap(mapping_, guard_ + size_);
}

void* Stack::bottom() const {
  return static_cast<std::byte*>(mapping_) + guard_;
}

Fiber::Fiber(Body body, void* context) : body_(body), context_(context), stack_(kStackBytes) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.bottom();
  own_.uc_stack.ss_size = stack_.size();
  own_.uc_link = nullptr;
  // makecontext passes only ints on.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(std::uint64_t{self} >> 32), static_cast<unsigned>(self));
}

Fiber::~Fiber() {
  ending_ = true;
  switch_in();
}

void Fiber::resume() {
  switch_in();
}

void Fiber::suspend() {
  switch_out(false);
}

void Fiber::enter(unsigned high, unsigned low) {
  const std::uint64_t self = (std::uint64_t{high} << 32) | low;
  reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(self))->run();
}

void Fiber::run() {
  LeftStack{}.arrive(&caller_bottom_, &caller_size_);
  while (!ending_) {
    body_(context_);
    switch_out(false);
  }
  switch_out(true);
}

void Fiber::switch_in() {
  LeftStack left;
  left.leave(stack_.bottom(), stack_.size());
  swapcontext(&caller_, &own_);
  left.arrive(nullptr, nullptr);
}

void Fiber::switch_out(bool for_good) {
  LeftStack left;
  left.leave(caller_bottom_, caller_size_, for_good);
  swapcontext(&own_, &caller_);
  left.arrive(&caller_bottom_, &caller_size_);
}

}  // namespace trainscope::emulator
