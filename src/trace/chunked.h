// An append-only array that one thread writes while others read.
//
// Elements live in chunks that double in size and never move; memory is touched as it is filled.
// The length is published after the element, so that a reader that takes size() once sees every
// element below it complete. One writer; any number of readers; no locks. Indices are 32 bits wide.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/memory.h"

namespace trainscope::trace {

template <typename T>
class Chunked {
 public:
  Chunked() = default;
  Chunked(const Chunked&) = delete;
  Chunked& operator=(const Chunked&) = delete;
  ~Chunked() {
    for (std::uint32_t i = size(); i > 0; --i) std::destroy_at(&at(place_of(i - 1)));
    for (std::uint32_t k = 0; k < kChunks; ++k)
      if (T* chunk = chunks_[k].load(std::memory_order_relaxed))
        std::allocator<T>().deallocate(chunk, elements(k));
  }

  // Writer only. Returns the index of the new element.
  std::uint32_t push_back(T value) {
    const std::uint32_t index = size_.load(std::memory_order_relaxed);
    assert(index != UINT32_MAX);
    const Place place = place_of(index);
    if (!chunks_[place.chunk].load(std::memory_order_relaxed)) add_chunk(place.chunk);
    std::construct_at(&at(place), std::move(value));
    size_.store(index + 1, std::memory_order_release);
    return index;
  }

  // Elements that may be read now; only grows.
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  bool empty() const { return size() == 0; }

  const T& operator[](std::uint32_t index) const { return at(place_of(index)); }

  // The elements from `index` on, below `end`, that lie side by side: at least one where
  // index < end. For loops over all of millions.
  std::span<const T> stretch(std::uint32_t index, std::uint32_t end) const {
    if (index >= end) return {};
    const Place place = place_of(index);
    const std::size_t in_chunk = elements(place.chunk) - place.offset;
    return {&at(place), std::min<std::size_t>(in_chunk, end - index)};
  }

 private:
  static constexpr std::uint32_t kFirst = 256;  // elements in the first chunk
  static constexpr std::size_t kChunks = 25;    // 256 * (2^25 - 1) > 2^32

  struct Place {
    std::uint32_t chunk;
    std::uint32_t offset;
  };
  static std::size_t elements(std::uint32_t chunk) { return std::size_t{kFirst} << chunk; }
  void add_chunk(std::uint32_t chunk) {
    T* memory = std::allocator<T>().allocate(elements(chunk));
    expect_to_fill(memory, elements(chunk) * sizeof(T));
    chunks_[chunk].store(memory, std::memory_order_release);
  }
  T& at(Place place) const {
    return chunks_[place.chunk].load(std::memory_order_relaxed)[place.offset];
  }
  // Chunk k holds indices [kFirst (2^k - 1), kFirst (2^(k+1) - 1)).
  static Place place_of(std::uint32_t index) {
    const std::uint64_t shifted = std::uint64_t{index} + kFirst;
    const auto chunk = static_cast<std::uint32_t>(std::bit_width(shifted / kFirst)) - 1;
    // `shifted` is at least kFirst, so `chunk` wraps round nowhere.
    const std::uint64_t begin = std::uint64_t{kFirst} << chunk;  // NOLINT(*-core.BitwiseShift)
    return {chunk, static_cast<std::uint32_t>(shifted - begin)};
  }

  std::array<std::atomic<T*>, kChunks> chunks_{};
  std::atomic<std::uint32_t> size_{0};
};

// Calls visit(element, index) for each that may be read now, in order. Much cheaper than asking for
// one after the other.
template <typename T, typename Visit>
void for_each(const Chunked<T>& all, const Visit& visit) {
  for (std::uint32_t index = 0, size = all.size(); index < size;)
    for (const T& one : all.stretch(index, size)) visit(one, index++);
}

}  // namespace trainscope::trace
