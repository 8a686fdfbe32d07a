// A buffer of a program: where it lies, what it is for, what it holds before the program begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::program {

// Into one of a program's tables.
using Index = std::uint32_t;
inline constexpr Index kNoIndex = UINT32_MAX;

enum class MemoryKind : std::uint8_t { kDevice, kPinned, kPageable };
enum class Role : std::uint8_t {
  kParameter,
  kGradient,
  kOptimizerState,
  kActivation,
  kBatch,
  kWorkspace
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::kWorkspace) + 1;
std::string_view name_of(Role role);  // "parameters", "optimizer state"

enum class ElementType : std::uint8_t { kFp32, kTf32, kFp16, kBf16, kInt64, kInt32, kBool };
// Bytes of an element in memory; TF32 lies there as FP32.
std::int64_t size_of(ElementType type);

// What a buffer holds before the program begins.
struct Initial {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double value = 0;  // the constant; the bound of [-value, value); the standard deviation
  // Ranks hold equal parts of it, and this buffer is one: that of its rank, behind the first. Where
  // there are more ranks than parts, those with one remainder hold the same.
  bool by_rank = false;
  std::int64_t part = 0;
  // The whole lies in so many runs of equal length, of each of which `ranks` have a part.
  std::int64_t runs = 1;
  std::int64_t ranks = 1;
  // Groups of so many neighbours share such a part once more, or all of it where they have no parts
  // (FSDP between tensor groups): this buffer is one of `shards` equal runs of those `shared`
  // elements, that of its group behind `shard`.
  std::int64_t shards = 1;
  std::int64_t shard = 0;
  std::int64_t shared = 0;
  std::int64_t neighbours = 1;
  // Of a model whose parts lie on several GPUs: how many whose values are drawn, and which are not
  // on this one, stand before it in the model.
  std::int64_t before = 0;

  // Of a rank that carries out the commands of the buffer's own.
  std::int64_t part_of(int rank) const { return by_rank ? (part + rank) % ranks : part; }
  std::int64_t shard_of(int rank) const { return (shard + rank / neighbours) % shards; }
};

struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  Role role = Role::kWorkspace;
  // What it holds, where numbers are computed: bytes / size_of(type) of them.
  ElementType type = ElementType::kFp32;
  Initial initial = {};
  int device = 0;  // where it lies, of memory kind kDevice
  // It has no memory of its own: it is a part of another buffer, or never leaves a kernel.
  bool is_view = false;

  std::int64_t elements() const { return bytes / size_of(type); }
};

}  // namespace trainscope::program
