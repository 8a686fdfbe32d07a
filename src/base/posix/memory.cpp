#include "base/memory.h"

#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>

#include "base/platform.h"

namespace trainscope {
namespace {

// For the whole large pages from byte `from` to byte `to` of the memory; the end of the last.
[[maybe_unused]] std::size_t advise(void* memory, std::size_t from, std::size_t to, int advice) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (start + from + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (start + to) / kPage * kPage;
  // Advice only: where the system has no large pages, nothing is lost.
  if (first < end) (void)::madvise(reinterpret_cast<void*>(first), end - first, advice);
  return first < end ? end - start : from;
}

}  // namespace

void expect_to_fill([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  advise(memory, 0, bytes, MADV_HUGEPAGE);
#endif
}

std::size_t platform::give_back([[maybe_unused]] void* memory, std::size_t from,
                                [[maybe_unused]] std::size_t to) {
#ifdef __linux__
  return advise(memory, from, to, MADV_DONTNEED);
#else
  return from;
#endif
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

}  // namespace trainscope
