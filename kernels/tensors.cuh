// The kernels of lists of tensors: which block does what of which tensor.
//
// The list is a table in the kernel's parameters: nothing has to be copied to the device before.
// Each block does one chunk of one tensor, and finds it by where the tensors' blocks end. Chunks
// are short, so that those of a small model fill a device and the last ones of a large model end
// together; loads of a thread are made before what depends on the first of them, so that they are
// in flight at once.
#pragma once

#include "kernels/pack.cuh"
#include "kernels/tensors.h"

namespace trainscope::kernels {

inline constexpr std::uint32_t kChunk = 4096;  // values: whole packs of every type
inline constexpr std::uint32_t kChunkThreads = 256;

inline std::size_t chunks_of(std::size_t count) {
  return (count + kChunk - 1) / kChunk;
}

// Every device takes 4 KB of parameters (CUDA C++ Programming Guide, "Function Parameters"); what
// is left is for a kernel's other ones.
inline constexpr std::size_t kTableBytes = 3840;

// An Entry has what a kernel knows of a tensor: pointers to arrays of `count` values.
template <typename Entry>
struct TensorTable {
  static constexpr std::size_t kMost =
      (kTableBytes - 2 * sizeof(std::uint32_t)) / (sizeof(Entry) + sizeof(std::uint32_t));

  std::uint32_t tensors;
  std::uint32_t ends[kMost];  // how many blocks a tensor and those before it have
  Entry entries[kMost];
};

// Calls launch_table(table, shape) for the tensors that are not empty, as many at a time as a table
// holds.
template <typename Entry, typename Launch>
void for_tables(std::span<const Entry> list, const Launch& launch_table) {
  static_assert(sizeof(TensorTable<Entry>) <= kTableBytes);
  TensorTable<Entry> table{};
  std::uint32_t blocks = 0;
  const auto flush = [&] {
    if (blocks > 0) launch_table(table, Shape{{blocks, 1, 1}, {kChunkThreads, 1, 1}});
    table.tensors = blocks = 0;
  };
  for (const Entry& entry : list) {
    if (entry.count == 0) continue;
    if (table.tensors == table.kMost) flush();
    blocks += static_cast<std::uint32_t>(chunks_of(entry.count));
    table.ends[table.tensors] = blocks;
    table.entries[table.tensors++] = entry;
  }
  flush();
}

// What a block does: `count` values of a tensor, from `begin` on.
template <typename Entry>
struct Chunk {
  Entry tensor;
  std::size_t begin;
  std::uint32_t count;
};

template <typename Entry>
__device__ Chunk<Entry> chunk_of_block(const TensorTable<Entry>& table) {
  std::uint32_t low = 0;
  for (std::uint32_t high = table.tensors - 1; low < high;) {
    const std::uint32_t middle = (low + high) / 2;
    if (blockIdx.x < table.ends[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const Entry tensor = table.entries[low];
  const std::uint32_t before = low == 0 ? 0 : table.ends[low - 1];
  const std::size_t begin = std::size_t{blockIdx.x - before} * kChunk;
  const std::size_t left = tensor.count - begin;
  return {tensor, begin, left < kChunk ? static_cast<std::uint32_t>(left) : kChunk};
}

// Packs that each thread has of a whole chunk.
template <int kPack>
inline constexpr int kOwnPacks = static_cast<int>(kChunk / kChunkThreads) / kPack;

// Calls use(width, load(width, i), i), i being the first of each of the calling thread's items of
// kWidth values: kAhead loads, then their uses, while there are so many.
template <int kWidth, int kAhead, typename Load, typename Use>
__device__ void walk(std::size_t begin, std::uint32_t items, const Load& load, const Use& use) {
  constexpr Width<kWidth> kItem;
  const auto place = [&](std::uint32_t item) { return begin + std::size_t{item} * kWidth; };
  std::uint32_t item = threadIdx.x;
  for (; item + (kAhead - 1) * kChunkThreads < items; item += kAhead * kChunkThreads) {
    decltype(load(kItem, begin)) loaded[kAhead];
    for (int k = 0; k < kAhead; ++k) loaded[k] = load(kItem, place(item + k * kChunkThreads));
    for (int k = 0; k < kAhead; ++k) use(kItem, loaded[k], place(item + k * kChunkThreads));
  }
  for (; item < items; item += kChunkThreads) use(kItem, load(kItem, place(item)), place(item));
}

// The same of all values of a chunk: packs of kPack values where `aligned`, then single values.
template <int kPack, int kAhead, typename Entry, typename Load, typename Use>
__device__ void for_chunk(const Chunk<Entry>& chunk, bool aligned, const Load& load,
                          const Use& use) {
  const std::uint32_t packs = aligned ? chunk.count / kPack : 0;
  walk<kPack, kAhead>(chunk.begin, packs, load, use);
  const std::uint32_t tail = packs * kPack;
  walk<1, kAhead>(chunk.begin + tail, chunk.count - tail, load, use);
}

// values[i] = f(i, values[i]), computed in FP32.
template <typename T, typename Function>
__device__ void map_chunk(const Chunk<Tensor<T>>& chunk, const Function& f) {
  constexpr int kPack = kPackOf<T>;
  T* values = chunk.tensor.values;
  const auto load = [&](auto width, std::size_t i) {
    return load_pack<decltype(width)::kValues>(values + i);
  };
  const auto use = [&](auto, auto pack, std::size_t i) {
    for (T& value : pack.values) value = narrow<T>(f(widen(value)));
    store_pack(values + i, pack);
  };
  for_chunk<kPack, kOwnPacks<kPack>>(chunk, is_aligned(values), load, use);
}

}  // namespace trainscope::kernels
