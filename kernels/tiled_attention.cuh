// Tiles of tokens in shared memory: how a block's threads share their rows, load them, multiply
// them with one another and keep what comes of it.
#pragma once

#include "kernels/attention.h"
#include "kernels/block.cuh"
#include "kernels/special.cuh"

namespace trainscope::kernels {

// Threads that share a row of a tile: neighbours, so that they can exchange values.
inline constexpr int kParts = 8;

// Values of a row that a thread takes from shared memory at once.
inline constexpr int kTaken = 4;
using Taken = Pack<float, kTaken>;

// A tile is kRows queries by kRows keys; a thread keeps kPacks packs of a row of `width`.
template <int kTileRows, int kTilePacks>
struct Tiling {
  static constexpr int kRows = kTileRows;
  static constexpr int kPacks = kTilePacks;
  static constexpr int kColumns = kRows / kParts;  // of a row of scores, of a thread
  static constexpr int kThreads = kRows * kParts;
  static constexpr int kSquarePitch = kRows + kTaken;
};

// From a row to the next: whole packs, an odd number of them. So those of kParts rows that lie
// below one another are in different banks.
inline __host__ __device__ int pitch_of(int width) {
  return kTaken * ((width + kTaken - 1) / kTaken | 1);
}

// Where a block keeps its tiles.
template <typename Tiles>
struct TileRoom {
  __device__ explicit TileRoom(int width) : pitch(pitch_of(width)), next(dynamic_floats()) {}
  __device__ float* tokens() {
    float* room = next;
    next += Tiles::kRows * pitch;
    return room;
  }
  __device__ float* square() {
    float* room = next;
    next += Tiles::kRows * Tiles::kSquarePitch;
    return room;
  }
  static std::size_t bytes(int width, int token_tiles, int squares) {
    const int floats = token_tiles * pitch_of(width) + squares * Tiles::kSquarePitch;
    return sizeof(float) * static_cast<std::size_t>(Tiles::kRows * floats);
  }

  int pitch;
  float* next;
};

// The calling thread's row of a tile and its part of it.
struct Own {
  __device__ Own()
      : row(static_cast<int>(threadIdx.x) / kParts), part(static_cast<int>(threadIdx.x) % kParts) {}
  // Where its pack of this number begins.
  __device__ int place(int pack) const { return (part + pack * kParts) * kTaken; }

  int row;
  int part;
};

// A thread's packs of a row.
template <typename Tiles>
struct OwnRow {
  Taken packs[Tiles::kPacks] = {};

  // Adds weight times the row. Packs behind its end are the first again; none of them is kept.
  __device__ void add(float weight, const float* row, int width, const Own& own) {
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kPacks; ++j) {
      const int w = own.place(j);
      const Taken values = load_pack<kTaken>(row + (w < width ? w : 0));
      for (int k = 0; k < kTaken; ++k) packs[j].values[k] += weight * values.values[k];
    }
  }
};

inline __device__ std::size_t offset_of_head(const Attention& shape, const HeadStrides& strides,
                                             int head) {
  return head / shape.heads * strides.batch + head % shape.heads * strides.head;
}

inline __device__ std::size_t head_offset(const Attention& shape, const HeadStrides& strides) {
  return offset_of_head(shape, strides, static_cast<int>(blockIdx.x));
}

// Whether a head's rows are packs of kTaken values, each aligned.
template <typename T>
__device__ bool is_packed(const T* head, std::size_t stride, int width) {
  return width % kTaken == 0 && stride % kTaken == 0 && is_aligned(head, kTaken * sizeof(T));
}

// Tokens from `first` on; 0 after the last, and behind the width up to a whole pack.
template <typename Tiles, typename T>
__device__ void load_tokens(const Attention& shape, const T* head, std::size_t stride, int first,
                            float* tile) {
  const Own own;
  const int width = shape.width, token = first + own.row;
  const bool is_there = token < shape.length, packed = is_packed(head, stride, width);
  const T* from = head + static_cast<std::size_t>(is_there ? token : 0) * stride;
  float* row = tile + own.row * pitch_of(width);
  TRAINSCOPE_UNROLLED
  for (int j = 0; j < Tiles::kPacks; ++j) {
    const int w = own.place(j);
    if (w >= width) continue;
    Pack<T, kTaken> values = {};
    if (is_there && packed) values = load_pack<kTaken>(from + w);
    for (int k = 0; k < kTaken && is_there && !packed; ++k)
      if (w + k < width) values.values[k] = from[w + k];
    Taken wide;
    for (int k = 0; k < kTaken; ++k) wide.values[k] = widen(values.values[k]);
    *reinterpret_cast<Taken*>(row + w) = wide;
  }
}

// sums[j] += a b_j, the rows b_j lying kParts rows below one another.
template <typename Tiles>
__device__ void add_dots(const float* a, const float* b, int width,
                         float (&sums)[Tiles::kColumns]) {
  const int apart = kParts * pitch_of(width);
  for (int c = 0; c < width; c += kTaken) {
    const Taken left = load_pack<kTaken>(a + c);
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kColumns; ++j) {
      const Taken right = load_pack<kTaken>(b + j * apart + c);
      for (int k = 0; k < kTaken; ++k) sums[j] += left.values[k] * right.values[k];
    }
  }
}

// Over the threads that share a row.
template <typename Combine>
__device__ float combine_parts(float value, Combine combine) {
  for (int apart = kParts / 2; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, apart));
  }
  return value;
}

inline __device__ bool is_visible(const Attention& shape, int row, int column) {
  return column <= row && row < shape.length;
}

// out[w] = f(value) for the thread's values of a token, that stand where it has them.
template <typename Tiles, typename T, typename Function>
__device__ void store_row(const OwnRow<Tiles>& row, int width, bool packed, const Own& own, T* out,
                          const Function& f) {
  TRAINSCOPE_UNROLLED
  for (int j = 0; j < Tiles::kPacks; ++j) {
    const int w = own.place(j);
    if (w >= width) continue;
    Pack<T, kTaken> values;
    for (int k = 0; k < kTaken; ++k) values.values[k] = narrow<T>(f(row.packs[j].values[k]));
    if (packed) store_pack(out + w, values);
    for (int k = 0; k < kTaken && !packed; ++k)
      if (w + k < width) out[w + k] = values.values[k];
  }
}

}  // namespace trainscope::kernels
