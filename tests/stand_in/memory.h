// What memory the stand-in has handed out, and where.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace trainscope::stand_in {

enum class Where { kPageable, kPinned, kDevice };

class Memory {
 public:
  // Full of NaNs (a brief machine's large pieces: of anything). Null: the GPU has no room for it.
  void* take_device(std::size_t bytes, int gpu);
  // Null: the host has no more that can be pinned.
  void* take_pinned(std::size_t bytes);
  // From the GPU's pool, which keeps what is given back until it is trimmed: no room for others.
  void* take_pooled(std::size_t bytes, int gpu);
  void trim_pool(int gpu);
  // False: it was not handed out, or was given back.
  bool give_back(void* memory, Where where);

  // Nothing: it begins in a piece that was handed out and ends behind it.
  std::optional<Where> where(const void* memory, std::size_t bytes) const;
  int gpu_of(const void* memory) const;  // -1: none
  // "512 B, 33554432 B": how large what is handed out is.
  std::string sizes(Where where) const;

 private:
  struct Piece {
    std::size_t bytes;
    Where where;
    int gpu;
    bool is_pooled;
  };
  void* take(std::size_t bytes, Where where, int gpu, bool is_pooled = false);
  const Piece* find(const void* memory, const char*& begin) const;

  mutable std::mutex mutex_;
  std::map<const char*, Piece> pieces_;
  std::size_t pinned_ = 0;
  std::map<int, std::size_t> used_;  // by GPU
  std::map<int, std::size_t> kept_;  // by its pool, beside what is used
};

}  // namespace trainscope::stand_in
