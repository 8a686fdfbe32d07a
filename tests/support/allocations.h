// Counts the allocations of a test program. It replaces operator new, so one file of a program
// includes it; where TRAINSCOPE_COUNTS_ALLOCATIONS is not defined, nothing is counted.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/sanitized.h"

// Sanitizers bring an operator new of their own.
#ifndef TRAINSCOPE_SANITIZED
#define TRAINSCOPE_COUNTS_ALLOCATIONS 1

namespace trainscope::test {

inline std::atomic<long> allocations{0};

}  // namespace trainscope::test

void* operator new(std::size_t size) {
  ++trainscope::test::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif
