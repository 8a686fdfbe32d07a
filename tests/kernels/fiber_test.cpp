// Stacks of fibers, and what the address sanitizer knows of them.
#include "kernels/emulator/fiber.h"

#include <catch2/catch.hpp>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

using namespace trainscope;

TEST_CASE("a fiber is left in its middle, gone on with, and begun again after its end") {
  struct Seen {
    emulator::Fiber* fiber = nullptr;
    std::vector<int> places;
  } seen;
  emulator::Fiber fiber(
      [](void* context) {
        auto& into = *static_cast<Seen*>(context);
        into.places.push_back(1);
        into.fiber->suspend();
        into.places.push_back(2);
      },
      &seen);
  seen.fiber = &fiber;
  for (int i = 0; i < 4; ++i) fiber.resume();
  CHECK(seen.places == std::vector<int>{1, 2, 1, 2});
}

// Only the address sanitizer marks frames.
#ifdef __SANITIZE_ADDRESS__
TEST_CASE("a stack that is given back leaves no frames to whoever has its memory next") {
  const void* bottom = nullptr;
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  {
    const emulator::Stack stack(kBytes);
    bottom = stack.bottom();
    __asan_poison_memory_region(bottom, kBytes / 2);
    REQUIRE(__asan_region_is_poisoned(const_cast<void*>(bottom), kBytes) == bottom);
  }
  CHECK(__asan_region_is_poisoned(const_cast<void*>(bottom), kBytes) == nullptr);
}
#endif
