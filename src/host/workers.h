// Threads that share the work of one operation.
//
// An operation cuts its output into parts by its shape alone, never by the number of threads, and a
// sum is never cut where a thread ends. So its results are the same bytes whatever the number of
// threads; threads only decide who computes a part. Operations take workers last; without any, the
// caller does it all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace trainscope::host {

class Workers {
 public:
  Workers();  // nobody beside the caller
  // `threads` in all, the caller among them: at least 1. Fewer where this system has no room for so
  // many. OpenBLAS, whose threads these replace, is kept to one (blas.h).
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const;

  // Calls body(part) once for each part from 0 to before `parts`, several at once, and returns when
  // all are done; what a body threw is thrown here then. A body does not call the same workers, and
  // one thread owns them.
  template <typename Body>
  void for_each(std::size_t parts, const Body& body) const {
    share(parts, {&body, [](const void* context, std::size_t part) {
                    (*static_cast<const Body*>(context))(part);
                  }});
  }

  // Calls body(begin, end) for ranges of `grain` that together are 0 to `count`.
  template <typename Body>
  void for_ranges(std::size_t count, std::size_t grain, const Body& body) const {
    for_each((count + grain - 1) / grain,
             [&](std::size_t part) { body(part * grain, std::min(count, (part + 1) * grain)); });
  }

 private:
  class Pool;
  struct Task {
    const void* context;
    void (*call)(const void* context, std::size_t part);
  };
  void share(std::size_t parts, const Task& task) const;

  std::unique_ptr<Pool> pool_;  // none for one thread
};

// How many values, or terms, a part should have where they cost about a nanosecond each: handing a
// part over costs a microsecond.
inline constexpr std::size_t kGrain = std::size_t{1} << 14;

// The most parts that an operation cuts its work into where each needs room of its own: the room
// must not depend on the number of threads.
inline constexpr std::size_t kShares = 8;

// Items of `size` values each that make one part.
constexpr std::size_t grain_of(std::size_t size) {
  return std::max<std::size_t>(1, kGrain / std::max<std::size_t>(size, 1));
}

}  // namespace trainscope::host
