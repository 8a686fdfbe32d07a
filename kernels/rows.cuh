// Rows that lie side by side and begin anywhere: a warp walks a narrow one, a block a wide one.
//
// Values before the first multiple of 16 bytes are taken one by one, the others in packs.
#pragma once

#include "kernels/block.cuh"

namespace trainscope::kernels {

// The threads that share a row. All of a warp, or of a block, have the same row.
template <bool kWide>
struct Team {
  static constexpr bool kIsWide = kWide;

  static __device__ std::size_t row() {
    const std::size_t block = blockIdx.x;
    return kWide ? block : block * (blockDim.x / kLanes) + threadIdx.x / kLanes;
  }
  static __device__ unsigned rank() { return kWide ? threadIdx.x : threadIdx.x % kLanes; }
  static __device__ unsigned size() { return kWide ? blockDim.x : kLanes; }
  template <typename Combine>
  static __device__ float combine(float value, Combine how) {
    if constexpr (kWide) return combine_block(value, how);
    return combine_warp(value, how);
  }
  // What the team's threads have written before is there for all of them after.
  static __device__ void wait() {
    if constexpr (kWide) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

// Values from `address` to the next multiple of 16 bytes.
template <typename T>
__device__ std::size_t values_to_alignment(const T* address) {
  const auto past =
      static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) % kPackBytes);
  return (kPackBytes - past) % kPackBytes / sizeof(T);
}

// How a row is walked: `head` single values, packs, then single values again.
struct RowWalk {
  std::size_t head;
  std::size_t packs;
};

// All rows begin equally far from a multiple of 16 bytes, or are walked value by value.
template <typename T, typename... Others>
__device__ RowWalk walk_of(std::size_t columns, const T* row, const Others*... others) {
  const std::size_t head = values_to_alignment(row);
  const bool alike = ((values_to_alignment(others) == head) && ...);
  if (!alike || head >= columns) return {columns, 0};
  return {head, (columns - head) / kPackOf<T>};
}

// Calls body(width, c) for the calling thread's columns, `width` as for_items gives it.
template <typename T, bool kWide, typename Body>
__device__ void walk_row(Team<kWide> team, std::size_t columns, const RowWalk& walk,
                         const Body& body) {
  constexpr std::size_t kPack = kPackOf<T>;
  for (std::size_t c = team.rank(); c < walk.head; c += team.size()) body(Width<1>{}, c);
  for (std::size_t p = team.rank(); p < walk.packs; p += team.size()) {
    body(Width<static_cast<int>(kPack)>{}, walk.head + p * kPack);
  }
  const std::size_t tail = walk.head + walk.packs * kPack;
  for (std::size_t c = tail + team.rank(); c < columns; c += team.size()) body(Width<1>{}, c);
}

// A row's largest value, and Σ exp(x - largest), in one pass: each thread keeps its own until all
// have theirs. A NaN makes a NaN of both.
struct MaxAndSum {
  float maximum = -INFINITY;
  float sum = 0;

  // What exp's argument is taken from: minus infinity would make a NaN of itself.
  static __device__ float base(float maximum) { return maximum == -INFINITY ? 0.0F : maximum; }

  template <int kCount, typename T>
  __device__ void take(const Pack<T, kCount>& values) {
    float larger = maximum;
    for (int k = 0; k < kCount; ++k) larger = Larger{}(larger, widen(values.values[k]));
    const float from = base(larger);
    sum *= __expf(maximum - from);
    for (int k = 0; k < kCount; ++k) sum += __expf(widen(values.values[k]) - from);
    maximum = larger;
  }
};

template <bool kWide, typename T>
__device__ MaxAndSum max_and_sum(Team<kWide> team, std::size_t columns, const T* row) {
  MaxAndSum own;
  walk_row<T>(team, columns, walk_of(columns, row), [&](auto width, std::size_t c) {
    own.take(load_pack<decltype(width)::kValues>(row + c));
  });
  const float maximum = team.combine(own.maximum, Larger{});
  own.sum *= __expf(own.maximum - MaxAndSum::base(maximum));
  return {maximum, team.combine(own.sum, Plus{})};
}

inline constexpr std::size_t kWideRow = 2048;

// Warps for narrow rows; for wide ones a block each, of threads that have a few packs of 16 bytes.
template <typename T>
Shape shape_for_teams(const Matrix& shape) {
  constexpr std::size_t kWarps = 8;
  if (shape.columns < kWideRow) {
    return {{static_cast<unsigned>((shape.rows + kWarps - 1) / kWarps), 1, 1},
            {static_cast<unsigned>(kWarps * kLanes), 1, 1}};
  }
  constexpr std::size_t kEach = 4 * kPackOf<T>, kMost = 1024;
  const std::size_t threads = (shape.columns / kEach + kLanes - 1) / kLanes * kLanes;
  return {{static_cast<unsigned>(shape.rows), 1, 1},
          {static_cast<unsigned>(threads < kMost ? threads : kMost), 1, 1}};
}

// Calls body(team) with the kind of team that shape_for_teams has made blocks for.
template <typename Body>
void with_team(const Matrix& shape, const Body& body) {
  if (shape.columns < kWideRow) {
    body(Team<false>{});
  } else {
    body(Team<true>{});
  }
}

}  // namespace trainscope::kernels
