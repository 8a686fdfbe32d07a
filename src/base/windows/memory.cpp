#include "base/memory.h"

#include "base/platform.h"

namespace trainscope {

// The system decides by itself.
void expect_to_fill(void*, std::size_t) {}
void keep_freed_memory() {}

std::size_t platform::give_back(void*, std::size_t from, std::size_t) {
  return from;
}

}  // namespace trainscope
