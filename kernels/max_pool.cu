#include "kernels/max_pool.h"

#include <algorithm>

#include "kernels/map.cuh"
#include "kernels/pool_items.cuh"

namespace trainscope::kernels {
namespace {

constexpr std::int32_t kNone = -1;

inline __device__ int smaller(int a, int b) {
  return a < b ? a : b;
}
inline __device__ int larger(int a, int b) {
  return a < b ? b : a;
}

// ---- forward: an item is a pixel of the output

// The largest so far of each channel. All channels of an item look at the same pixels.
template <int kPack>
struct Largest {
  float values[kPack] = {};
  Pack<std::int32_t, kPack> from;

  template <typename T>
  __device__ void take(const Pack<T, kPack>& stored, std::int32_t pixel, bool first) {
    for (int k = 0; k < kPack; ++k) {
      const float value = widen(stored.values[k]);
      const bool better = first || value > values[k] || value != value;
      values[k] = better ? value : values[k];
      from.values[k] = better ? pixel : from.values[k];
    }
  }
};

// A square window without dilation. What reaches over an edge looks at the edge's pixel once more:
// the window has that pixel too, as padding is at most half of it, and a second look at a value
// changes nothing. So all loads are made at once.
template <int kSize, bool kPlanar, int kPack, typename T>
__device__ Largest<kPack> largest_of_square(const MaxPool& pool, const Planes& input,
                                            const PoolItem& item, const T* x) {
  const int line = pool.vertical.source(item.row, 0);
  const int column = pool.horizontal.source(item.column, 0);
  Largest<kPack> best;
  for (int cell = 0; cell < kSize * kSize; ++cell) {
    const int at_line = smaller(larger(line + cell / kSize, 0), input.height - 1);
    const int at_column = smaller(larger(column + cell % kSize, 0), input.width - 1);
    const int pixel = at_line * input.width + at_column;
    best.take(load_pack<kPack>(x + offset_of<kPlanar>(pixel, input)), pixel, cell == 0);
  }
  return best;
}

template <bool kPlanar, int kPack, typename T>
__device__ Largest<kPack> largest_of_any(const MaxPool& pool, const Planes& input,
                                         const PoolItem& item, const T* x) {
  Largest<kPack> best;
  for (int k = 0; k < kPack; ++k) best.from.values[k] = kNone;
  bool first = true;
  for (int u = 0; u < pool.vertical.size; ++u) {
    const int line = pool.vertical.source(item.row, u);
    if (line < 0 || line >= input.height) continue;
    for (int v = 0; v < pool.horizontal.size; ++v) {
      const int column = pool.horizontal.source(item.column, v);
      if (column < 0 || column >= input.width) continue;
      const int pixel = line * input.width + column;
      best.take(load_pack<kPack>(x + offset_of<kPlanar>(pixel, input)), pixel, first);
      first = false;
    }
  }
  return best;
}

// kSize: of a square window; 0: any.
template <typename T, bool kPlanar, int kPack, int kSize>
__global__ void max_pool_forward_kernel(MaxPool pool, Planes input, PoolItems items, const T* x,
                                        T* y, std::int32_t* chosen) {
  for (std::size_t i = first_item(); i < items.count(); i += item_step()) {
    const PoolItem item = items.at<kPlanar>(i);
    const T* from = x + item.plane * input.size + item.channel;
    Largest<kPack> best;
    if constexpr (kSize == 0) {
      best = largest_of_any<kPlanar, kPack>(pool, input, item, from);
    } else {
      best = largest_of_square<kSize, kPlanar, kPack>(pool, input, item, from);
    }
    Pack<T, kPack> values;
    for (int k = 0; k < kPack; ++k) values.values[k] = narrow<T>(best.values[k]);
    store_pack(y + i * kPack, values);
    store_pack(chosen + i * kPack, best.from);
  }
}

template <typename T, bool kPlanar, int kPack, int kSize>
void launch_forward(Stream stream, const MaxPool& pool, const T* x, T* y, std::int32_t* chosen) {
  const PoolItems items(Planes(pool.output()), 1, kPack);
  launch("max_pool_forward", max_pool_forward_kernel<T, kPlanar, kPack, kSize>, stream,
         shape_for(items.count()), pool, Planes(pool.input), items, x, y, chosen);
}

template <typename T, bool kPlanar, int kPack>
void launch_forward(Stream stream, const MaxPool& pool, const T* x, T* y, std::int32_t* chosen) {
  const Window &down = pool.vertical, &across = pool.horizontal;
  const bool square = down.size == across.size && down.dilation == 1 && across.dilation == 1;
  if (square && down.size == 2) {
    launch_forward<T, kPlanar, kPack, 2>(stream, pool, x, y, chosen);
  } else if (square && down.size == 3) {
    launch_forward<T, kPlanar, kPack, 3>(stream, pool, x, y, chosen);
  } else {
    launch_forward<T, kPlanar, kPack, 0>(stream, pool, x, y, chosen);
  }
}

// ---- backward: an item is a tile of the input's pixels, which share their windows

// In one direction, the windows that may have chosen what stands from `first` to `last`.
struct Reach {
  Divisor stride;
  int shift;  // of the first pixel, before the division that rounds up
  int padding;
  int places;

  Reach(const Window& window, int count)
      : stride(static_cast<std::size_t>(window.stride)),
        shift(window.padding - window.dilation * (window.size - 1) + window.stride - 1),
        padding(window.padding),
        places(count) {}

  __device__ int begin(int first) const {
    return static_cast<int>(stride.quotient(static_cast<std::uint32_t>(larger(first + shift, 0))));
  }
  __device__ int end(int last) const {
    const auto place = stride.quotient(static_cast<std::uint32_t>(last + padding));
    return smaller(static_cast<int>(place) + 1, places);
  }
};

// Windows i to before i_end, j to before j_end.
struct WindowRange {
  int i, i_end;
  int j, j_end;
};

template <typename T, int kPack>
struct WindowPack {
  Pack<std::int32_t, kPack> chosen;
  Pack<T, kPack> dy;
};

// What lies in the output where the windows of an item are: its plane, from its first channel on.
template <typename T, bool kPlanar, int kPack>
struct Windows {
  const T* dy;
  const std::int32_t* chosen;

  __device__ WindowPack<T, kPack> at(const Planes& output, int i, int j) const {
    const auto offset = offset_of<kPlanar>(i * output.width + j, output);
    return {load_pack<kPack>(chosen + offset), load_pack<kPack>(dy + offset)};
  }
};

template <int kTile, int kPack>
struct TileSums {
  float values[kTile][kTile][kPack] = {};

  // `pixel` is the tile's first, rows of pixels are `width` long.
  template <typename T>
  __device__ void take(const WindowPack<T, kPack>& window, bool counts, int pixel, int width) {
    for (int k = 0; k < kPack; ++k) {
      const int place = (counts ? window.chosen.values[k] : kNone) - pixel;
      const float gradient = widen(window.dy.values[k]);
      for (int a = 0; a < kTile; ++a) {
        for (int b = 0; b < kTile; ++b) {
          if (place == a * width + b) values[a][b][k] += gradient;
        }
      }
    }
  }
};

// At most kMost windows in either direction, so that all loads are made at once: in place of one
// beyond the end the output's last is loaded, and does not count.
template <int kMost, typename T, bool kPlanar, int kTile, int kPack>
__device__ void add_few(const Windows<T, kPlanar, kPack>& windows, const Planes& output,
                        const WindowRange& range, int pixel, int width,
                        TileSums<kTile, kPack>& sums) {
  WindowPack<T, kPack> loaded[kMost][kMost];
  for (int a = 0; a < kMost; ++a) {
    const int i = smaller(range.i + a, output.height - 1);
    for (int b = 0; b < kMost; ++b) {
      loaded[a][b] = windows.at(output, i, smaller(range.j + b, output.width - 1));
    }
  }
  for (int a = 0; a < kMost; ++a) {
    for (int b = 0; b < kMost; ++b) {
      const bool counts = range.i + a < range.i_end && range.j + b < range.j_end;
      sums.take(loaded[a][b], counts, pixel, width);
    }
  }
}

template <typename T, bool kPlanar, int kTile, int kPack>
__device__ void add_all(const Windows<T, kPlanar, kPack>& windows, const Planes& output,
                        const WindowRange& range, int pixel, int width,
                        TileSums<kTile, kPack>& sums) {
  for (int i = range.i; i < range.i_end; ++i) {
    for (int j = range.j; j < range.j_end; ++j) {
      sums.take(windows.at(output, i, j), true, pixel, width);
    }
  }
}

template <bool kPlanar, typename T, int kTile, int kPack>
__device__ void store_tile(const TileSums<kTile, kPack>& sums, int line, int column,
                           const Planes& input, T* dx) {
  const int pixel = line * input.width + column;
  for (int a = 0; a < kTile; ++a) {
    for (int b = 0; b < kTile; ++b) {
      if (line + a >= input.height || column + b >= input.width) continue;
      Pack<T, kPack> results;
      for (int k = 0; k < kPack; ++k) results.values[k] = narrow<T>(sums.values[a][b][k]);
      store_pack(dx + offset_of<kPlanar>(pixel + a * input.width + b, input), results);
    }
  }
}

// The windows are visited in their order. kMost: so many at most in either direction; 0: any
// number, none too.
template <typename T, bool kPlanar, int kPack, int kTile, int kMost>
__global__ void max_pool_backward_kernel(Reach down, Reach across, Planes input, Planes output,
                                         PoolItems items, const T* dy, const std::int32_t* chosen,
                                         T* dx) {
  for (std::size_t number = first_item(); number < items.count(); number += item_step()) {
    const PoolItem item = items.at<kPlanar>(number);
    const std::size_t from = item.plane * output.size + item.channel;
    const Windows<T, kPlanar, kPack> windows{dy + from, chosen + from};
    const int line = item.row * kTile, column = item.column * kTile;
    const WindowRange range{down.begin(line), down.end(line + kTile - 1), across.begin(column),
                            across.end(column + kTile - 1)};
    const int pixel = line * input.width + column;
    TileSums<kTile, kPack> sums;
    if constexpr (kMost == 0) {
      add_all(windows, output, range, pixel, input.width, sums);
    } else {
      add_few<kMost>(windows, output, range, pixel, input.width, sums);
    }
    store_tile<kPlanar>(sums, line, column, input, dx + item.plane * input.size + item.channel);
  }
}

// The most windows that a tile has in one direction; every `stride` tiles they lie alike.
int most_windows(const Window& window, int tile) {
  const int extent = window.dilation * (window.size - 1);
  int most = 0;
  for (int k = 0; k < window.stride; ++k) {
    const int first = extent + k * tile + window.padding;  // of pixels, far from the edge
    const int begin = (first - extent + window.stride - 1) / window.stride;
    most = std::max(most, (first + tile - 1) / window.stride + 1 - begin);
  }
  return most;
}

template <typename T, bool kPlanar, int kPack, int kTile, int kMost>
void launch_backward(Stream stream, const MaxPool& pool, const T* dy, const std::int32_t* chosen,
                     T* dx) {
  const Planes input(pool.input), output(pool.output());
  const PoolItems items(input, kTile, kPack);
  launch("max_pool_backward", max_pool_backward_kernel<T, kPlanar, kPack, kTile, kMost>, stream,
         shape_for(items.count()), Reach(pool.vertical, output.height),
         Reach(pool.horizontal, output.width), input, output, items, dy, chosen, dx);
}

template <typename T, bool kPlanar, int kPack, int kTile>
void launch_backward(Stream stream, const MaxPool& pool, const T* dy, const std::int32_t* chosen,
                     T* dx) {
  const int most =
      std::max(most_windows(pool.vertical, kTile), most_windows(pool.horizontal, kTile));
  if (pool.output().size() == 0 || most > 2) {
    launch_backward<T, kPlanar, kPack, kTile, 0>(stream, pool, dy, chosen, dx);
  } else if (most == 2) {
    launch_backward<T, kPlanar, kPack, kTile, 2>(stream, pool, dy, chosen, dx);
  } else {
    launch_backward<T, kPlanar, kPack, kTile, 1>(stream, pool, dy, chosen, dx);
  }
}

}  // namespace

template <typename T>
void max_pool_forward(Stream stream, const MaxPool& pool, const T* x, T* y, std::int32_t* chosen) {
  if (pool.output().size() == 0) return;
  if (!pool.input.channels_last) {
    launch_forward<T, true, 1>(stream, pool, x, y, chosen);
  } else if (in_packs<T>(pool.input) && is_aligned(x) && is_aligned(y) && is_aligned(chosen)) {
    launch_forward<T, false, kPackOf<T>>(stream, pool, x, y, chosen);
  } else {
    launch_forward<T, false, 1, 0>(stream, pool, x, y, chosen);
  }
}

template <typename T>
void max_pool_backward(Stream stream, const MaxPool& pool, const T* dy, const std::int32_t* chosen,
                       T* dx) {
  if (pool.input.size() == 0) return;
  if (!pool.input.channels_last) {
    launch_backward<T, true, 1, 2>(stream, pool, dy, chosen, dx);
  } else if (in_packs<T>(pool.input) && is_aligned(dy) && is_aligned(chosen) && is_aligned(dx)) {
    launch_backward<T, false, kPackOf<T>, 1>(stream, pool, dy, chosen, dx);
  } else {
    launch_backward<T, false, 1, 1, 0>(stream, pool, dy, chosen, dx);
  }
}

#define TRAINSCOPE_INSTANTIATE(T)                                                      \
  template void max_pool_forward(Stream, const MaxPool&, const T*, T*, std::int32_t*); \
  template void max_pool_backward(Stream, const MaxPool&, const T*, const std::int32_t*, T*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
