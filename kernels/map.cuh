// The kernel of all that is done value by value.
#pragma once

#include <algorithm>

#include "kernels/divisor.cuh"
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

// How many values a thread takes at once where arrays are mapped: 16 bytes of the widest type, so
// that what a warp accesses at once lies side by side.
template <typename... T>
inline constexpr int kMapPackOf = static_cast<int>(kPackBytes / std::max({sizeof(T)...}));

// How many packs a thread loads before it stores the first: 32 bytes, if it reads anything. On all
// threads of an SM that is more than its share of a device's bandwidth times the latency.
template <int kPack, typename... In>
inline constexpr std::size_t kMapReadBytes = kPack * (std::size_t{0} + ... + sizeof(In));
template <int kPack, typename... In>
inline constexpr int kMapFlights = static_cast<int>(
    std::clamp<std::size_t>(2 * kPackBytes / std::max<std::size_t>(1, kMapReadBytes<kPack, In...>),
                            1, kMapReadBytes<kPack, In...> == 0 ? 1 : 4));

template <typename Function, typename Out, typename... In>
__global__ void map_kernel(Function f, std::size_t count, std::size_t packs, Out* out,
                           const In*... in) {
  constexpr int kPack = kMapPackOf<Out, In...>;
  constexpr int kFlights = kMapFlights<kPack, In...>;
  const auto map = [&](auto width, const Flight& flight) {
    map_flight<decltype(width)::kValues, kFlights>(flight, f, out, in...);
  };
  for_flights<kPack, kFlights>(first_item(), item_step(), count, packs, map);
}

// out[i] = f(i, in[i]...), computed in FP32. `out` may be one of the inputs.
template <typename Function, typename Out, typename... In>
void map(const char* name, Stream stream, const Function& f, std::size_t count, Out* out,
         const In*... in) {
  if (count == 0) return;
  constexpr int kPack = kMapPackOf<Out, In...>;
  constexpr std::size_t kFlights = kMapFlights<kPack, In...>;
  constexpr std::size_t kFull = 1 << 18;  // threads that fill a device
  const bool aligned = is_aligned(out) && (is_aligned(in) && ...);
  const std::size_t packs = aligned ? count / kPack : 0;
  const std::size_t items = packs + count - packs * kPack;
  launch(name, map_kernel<Function, Out, In...>, stream,
         shape_for(packs / kFlights < kFull ? items : items / kFlights), f, count, packs, out,
         in...);
}

// Values of a row that is repeated, from column `c` on. in_packs: the pack lies within the row and
// is aligned.
template <int kCount, typename T>
__device__ Pack<T, kCount> load_repeated(const T* row, std::size_t columns, std::size_t c,
                                         bool in_packs) {
  if (in_packs) return load_pack<kCount>(row + c);
  Pack<T, kCount> values;
  for (int k = 0; k < kCount; ++k) {
    values.values[k] = row[c];
    c = c + 1 == columns ? 0 : c + 1;
  }
  return values;
}

template <typename Function, typename T, typename... In>
__global__ void map_repeated_kernel(Function f, Divisor columns, bool in_packs, std::size_t count,
                                    std::size_t packs, const T* row, T* out, const In*... in) {
  for_items<kPackOf<T>>(first_item(), item_step(), count, packs,
                        [&](auto width, std::size_t first) {
                          constexpr int kCount = decltype(width)::kValues;
                          const std::size_t c = columns.split(first).rest;
                          const Pack<T, kCount> repeated =
                              load_repeated<kCount>(row, columns.by(), c, in_packs || kCount == 1);
                          const auto with_row = [&](std::size_t i, auto... values) {
                            return f(widen(repeated.values[i - first]), values...);
                          };
                          map_pack<kCount>(first, with_row, out, in...);
                        });
}

// out[r, c] = f(row[c], in[r, c]...). `out` may be one of the inputs.
template <typename Function, typename T, typename... In>
void map_repeated(const char* name, Stream stream, const Function& f, const Matrix& shape,
                  const T* row, T* out, const In*... in) {
  const std::size_t count = shape.size();
  if (count == 0) return;
  constexpr std::size_t kPack = kPackOf<T>;
  const bool aligned = is_aligned(out) && (is_aligned(in) && ...);
  const std::size_t packs = aligned ? count / kPack : 0;
  launch(name, map_repeated_kernel<Function, T, In...>, stream,
         shape_for(packs + count - packs * kPack), f, Divisor(shape.columns),
         is_aligned(row) && shape.columns % kPack == 0, count, packs, row, out, in...);
}

}  // namespace trainscope::kernels
