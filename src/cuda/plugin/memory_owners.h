// On which GPU memory lies that was handed out. From any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace trainscope::cuda {

class MemoryOwners {
 public:
  void add(const void* memory, std::int64_t bytes, std::size_t gpu) {
    const std::lock_guard held(mutex_);
    pieces_[static_cast<const char*>(memory)] = {bytes, gpu};
  }
  void remove(const void* memory) {
    const std::lock_guard held(mutex_);
    pieces_.erase(static_cast<const char*>(memory));
  }
  // Of an address in a piece; nothing: in none.
  std::optional<std::size_t> of(const void* memory) const {
    const std::lock_guard held(mutex_);
    const auto* const at = static_cast<const char*>(memory);
    auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) return std::nullopt;
    --after;
    if (at >= after->first + after->second.bytes) return std::nullopt;
    return after->second.gpu;
  }

 private:
  struct Piece {
    std::int64_t bytes;
    std::size_t gpu;
  };
  mutable std::mutex mutex_;
  std::map<const char*, Piece> pieces_;
};

}  // namespace trainscope::cuda
