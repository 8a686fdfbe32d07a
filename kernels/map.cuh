// The kernel of all that is done value by value.
#pragma once

#include <algorithm>

#include "kernels/pack.cuh"

namespace trainscope::kernels {

inline constexpr unsigned kMapThreads = 256;

// The first of a thread's items, and how far the next is: all threads of the grid walk together.
inline __device__ std::size_t first_item() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
inline __device__ std::size_t item_step() {
  return std::size_t{gridDim.x} * blockDim.x;
}

// As many threads as items, up to where more blocks would only queue.
inline Shape shape_for(std::size_t items) {
  constexpr std::size_t kMostBlocks = 1 << 15;
  const std::size_t blocks = (items + kMapThreads - 1) / kMapThreads;
  return {{static_cast<unsigned>(std::min(blocks, kMostBlocks)), 1, 1}, {kMapThreads, 1, 1}};
}

template <typename Function, typename Out, typename... In>
__global__ void map_kernel(Function f, std::size_t count, std::size_t packs, Out* out,
                           const In*... in) {
  for_items<kPackOf<Out, In...>>(
      first_item(), item_step(), count, packs,
      [&](auto width, std::size_t i) { map_pack<decltype(width)::kValues>(i, f, out, in...); });
}

// out[i] = f(i, in[i]...), computed in FP32. `out` may be one of the inputs.
template <typename Function, typename Out, typename... In>
void map(const char* name, Stream stream, const Function& f, std::size_t count, Out* out,
         const In*... in) {
  if (count == 0) return;
  constexpr int kPack = kPackOf<Out, In...>;
  const bool aligned = is_aligned(out) && (is_aligned(in) && ...);
  const std::size_t packs = aligned ? count / kPack : 0;
  launch(name, map_kernel<Function, Out, In...>, stream, shape_for(packs + count - packs * kPack),
         f, count, packs, out, in...);
}

}  // namespace trainscope::kernels
