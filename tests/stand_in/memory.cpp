#include "stand_in/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "stand_in/options.h"

namespace trainscope::stand_in {

void* Memory::take(std::size_t bytes, Where where, int gpu, bool is_pooled) {
  constexpr std::size_t kAligned = 256;  // as cudaMalloc gives it
  void* memory = std::aligned_alloc(kAligned, (bytes / kAligned + 1) * kAligned);
  if (!memory) return nullptr;
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  if (!options().brief || bytes < kLarge) std::memset(memory, 0xff, bytes);
  pieces_[static_cast<const char*>(memory)] = {bytes, where, gpu, is_pooled};
  return memory;
}

void* Memory::take_device(std::size_t bytes, int gpu) {
  const std::lock_guard held(mutex_);
  if (used_[gpu] + kept_[gpu] + bytes > options().memory_bytes) return nullptr;
  used_[gpu] += bytes;
  return take(bytes, Where::kDevice, gpu);
}

void* Memory::take_pooled(std::size_t bytes, int gpu) {
  const std::lock_guard held(mutex_);
  const std::size_t again = std::min(kept_[gpu], bytes);
  if (used_[gpu] + kept_[gpu] + bytes - again > options().memory_bytes) return nullptr;
  kept_[gpu] -= again;
  used_[gpu] += bytes;
  return take(bytes, Where::kDevice, gpu, true);
}

void Memory::trim_pool(int gpu) {
  const std::lock_guard held(mutex_);
  kept_[gpu] = 0;
}

void* Memory::take_pinned(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  if (pinned_ + bytes > options().pinned_bytes) return nullptr;
  pinned_ += bytes;
  return take(bytes, Where::kPinned, -1);
}

bool Memory::give_back(void* memory, Where where) {
  const std::lock_guard held(mutex_);
  const auto found = pieces_.find(static_cast<const char*>(memory));
  if (found == pieces_.end() || found->second.where != where) return false;
  const Piece& piece = found->second;
  if (where == Where::kPinned) pinned_ -= piece.bytes;
  if (where == Where::kDevice) used_[piece.gpu] -= piece.bytes;
  if (piece.is_pooled) kept_[piece.gpu] += piece.bytes;
  pieces_.erase(found);
  std::free(memory);
  return true;
}

const Memory::Piece* Memory::find(const void* memory, const char*& begin) const {
  const auto* at = static_cast<const char*>(memory);
  auto after = pieces_.upper_bound(at);
  if (after == pieces_.begin()) return nullptr;
  --after;
  begin = after->first;
  return at < begin + std::max<std::size_t>(after->second.bytes, 1) ? &after->second : nullptr;
}

std::optional<Where> Memory::where(const void* memory, std::size_t bytes) const {
  const std::lock_guard held(mutex_);
  const char* begin = nullptr;
  const Piece* piece = find(memory, begin);
  if (!piece) return Where::kPageable;
  if (static_cast<const char*>(memory) + bytes > begin + piece->bytes) return std::nullopt;
  return piece->where;
}

int Memory::gpu_of(const void* memory) const {
  const std::lock_guard held(mutex_);
  const char* begin = nullptr;
  const Piece* piece = find(memory, begin);
  return piece ? piece->gpu : -1;
}

std::string Memory::sizes(Where where) const {
  const std::lock_guard held(mutex_);
  std::string words;
  for (const auto& [memory, piece] : pieces_)
    if (piece.where == where)
      words += (words.empty() ? "" : ", ") + std::to_string(piece.bytes) + " B";
  return words;
}

}  // namespace trainscope::stand_in
