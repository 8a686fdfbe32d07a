#include "kernels/emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>
#include <vector>

#if defined(__has_feature)
#define TRAINSCOPE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TRAINSCOPE_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || TRAINSCOPE_HAS_FEATURE(address_sanitizer)
#define TRAINSCOPE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
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

// A fiber's last frames are left for good, not returned from: what the address sanitizer marked
// between their variables would be an error to whoever has the memory next, also where it was given
// back to the system.
void forget_frames([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t size) {
#ifdef TRAINSCOPE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(bottom, size);
#endif
}

// A mapping for each thread of each block costs more than what the thread does, so stacks are kept
// for the fibers to come.
constexpr std::size_t kMostKept = 1024;
thread_local std::vector<std::unique_ptr<Stack>> kept_stacks;

std::unique_ptr<Stack> take_stack() {
  if (kept_stacks.empty()) return std::make_unique<Stack>(kStackBytes);
  std::unique_ptr<Stack> stack = std::move(kept_stacks.back());
  kept_stacks.pop_back();
  forget_frames(stack->bottom(), stack->size());
  return stack;
}

void keep_stack(std::unique_ptr<Stack> stack) {
  if (kept_stacks.size() < kMostKept) kept_stacks.push_back(std::move(stack));
}

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
  forget_frames(bottom(), size_);
  munmap(mapping_, guard_ + size_);
}

void* Stack::bottom() const {
  return static_cast<std::byte*>(mapping_) + guard_;
}

Fiber::Fiber(Body body, void* context) : body_(body), context_(context), stack_(take_stack()) {
  const auto entry = [](void* self) { static_cast<Fiber*>(self)->run(); };
  own_.begin(stack_->bottom(), stack_->size(), entry, this);
}

Fiber::~Fiber() {
  ending_ = true;
  switch_in();
  keep_stack(std::move(stack_));
}

void Fiber::resume() {
  switch_in();
}

void Fiber::suspend() {
  switch_out(false);
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
  left.leave(stack_->bottom(), stack_->size());
  StackPlace::go(caller_, own_);
  left.arrive(nullptr, nullptr);
}

void Fiber::switch_out(bool for_good) {
  LeftStack left;
  left.leave(caller_bottom_, caller_size_, for_good);
  StackPlace::go(own_, caller_);
  left.arrive(&caller_bottom_, &caller_size_);
}

}  // namespace trainscope::emulator
