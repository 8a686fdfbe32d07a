// Sums over the threads of a block, and rows that a block walks together.
//
// A block is a number of whole warps in x. Every thread of it must call.
#pragma once

#include "kernels/pack.cuh"

namespace trainscope::kernels {

inline constexpr unsigned kAllLanes = 0xffffffffU;
inline constexpr unsigned kLanes = 32;

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
  static constexpr float kNone = 0;
};

// A NaN in either stays.
struct Larger {
  __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
  static constexpr float kNone = -INFINITY;
};

// All lanes get the result; in the same order for each, so that they agree to the bit.
template <typename Combine>
__device__ float combine_warp(float value, Combine combine) {
  for (int apart = kLanes / 2; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, apart));
  }
  return value;
}

template <typename Combine>
__device__ float combine_block(float value, Combine combine) {
  __shared__ float of_warps[kLanes];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  value = combine_warp(value, combine);
  __syncthreads();  // what the last call left has been read
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / kLanes ? of_warps[lane] : Combine::kNone;
  return combine_warp(value, combine);
}

inline __device__ float block_sum(float value) {
  return combine_block(value, Plus{});
}
inline __device__ float block_max(float value) {
  return combine_block(value, Larger{});
}

// Calls body(c, values...) for the calling thread's columns of rows that lie side by side.
template <typename Body, typename... T>
__device__ void for_row(std::size_t columns, const Body& body, const T*... rows) {
  constexpr int kPack = kPackOf<T...>;
  const std::size_t packs = (is_aligned(rows) && ...) ? columns / kPack : 0;
  for_items<kPack>(threadIdx.x, blockDim.x, columns, packs, [&](auto width, std::size_t c) {
    with_packs<decltype(width)::kValues>(c, body, rows...);
  });
}

// out[c] = f(c, values...) likewise. `out` may be one of the rows.
template <typename Function, typename Out, typename... T>
__device__ void map_row(std::size_t columns, const Function& f, Out* out, const T*... rows) {
  constexpr int kPack = kPackOf<Out, T...>;
  const std::size_t packs = is_aligned(out) && (is_aligned(rows) && ...) ? columns / kPack : 0;
  for_items<kPack>(threadIdx.x, blockDim.x, columns, packs, [&](auto width, std::size_t c) {
    map_pack<decltype(width)::kValues>(c, f, out, rows...);
  });
}

// A block for each row. Threads enough for its packs, so that a narrow row leaves few idle.
inline constexpr unsigned kMostRowThreads = 256;

inline Shape shape_for_rows(const Matrix& shape, std::size_t pack) {
  const std::size_t wanted = (shape.columns / pack + kLanes - 1) / kLanes * kLanes;
  const std::size_t threads = wanted < kLanes            ? kLanes
                              : wanted < kMostRowThreads ? wanted
                                                         : kMostRowThreads;
  return {{static_cast<unsigned>(shape.rows), 1, 1}, {static_cast<unsigned>(threads), 1, 1}};
}

}  // namespace trainscope::kernels
