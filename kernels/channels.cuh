// Walking the channels of a batch of images, and sums over each of them, in parts.
//
// A part is some of the images; where channels lie innermost, some of the pixels of all images, an
// image of one pixel being such in either layout. A block has a part of one channel, or of channels
// that lie side by side. It sums what it has, and a second kernel adds the parts up in a fixed
// order. A thread keeps to its channels, so that no value's has to be computed. How many parts
// there are belongs to the shape alone; one where there are few values.
#pragma once

#include <algorithm>

#include "kernels/block.cuh"
#include "kernels/image.h"

namespace trainscope::kernels {

inline constexpr unsigned kChannelThreads = 256;
inline constexpr std::size_t kChannelsTogether = 64;  // of a block, where they lie innermost

// Rows are images, of which a channel has a plane each; where channels lie innermost, pixels.
struct ChannelParts {
  explicit ChannelParts(const Image& shape)
      : by_pixels(shape.channels_last || shape.pixels() == 1) {
    // Values of a block: enough for a few reads of each thread, and few enough that a part can be
    // read twice from a cache; in between, as many blocks as fill a device.
    constexpr std::size_t kFewest = 2048;
    constexpr std::size_t kMost = 8192;
    constexpr std::size_t kBlocks = 1024;
    const auto pixels = static_cast<std::size_t>(shape.pixels());
    const auto channels = static_cast<std::size_t>(shape.channels);
    rows = static_cast<std::size_t>(shape.batch) * (by_pixels ? pixels : 1);
    row_values = by_pixels ? 1 : pixels;
    const std::size_t wanted = std::clamp(shape.size() / kBlocks, kFewest, kMost);
    const std::size_t width = by_pixels ? std::min(channels, kChannelsTogether) : pixels;
    const std::size_t most_rows = std::max<std::size_t>(1, wanted / width);
    const std::size_t about = (rows + most_rows - 1) / most_rows;
    part_rows = (rows + about - 1) / about;
    count = (rows + part_rows - 1) / part_rows;
  }

  __device__ std::size_t begin(std::size_t part) const { return part * part_rows; }
  __device__ std::size_t end(std::size_t part) const {
    return begin(part) + part_rows < rows ? begin(part) + part_rows : rows;
  }
  // Of a channel: in a part, and in all.
  __device__ float values(std::size_t part) const {
    return static_cast<float>((end(part) - begin(part)) * row_values);
  }
  __device__ float values() const { return static_cast<float>(rows * row_values); }

  bool by_pixels;
  std::size_t rows = 0;
  std::size_t row_values = 0;  // of one channel
  std::size_t part_rows = 0;   // of each part; the last may have fewer
  std::size_t count = 0;
};

// A part of one channel, whose pixels lie side by side. Threads share planes: as many as a plane
// keeps busy, a warp at least, and more where there are fewer planes than warps.
struct PlaneWalk {
  PlaneWalk(const Image& shape, std::size_t pack)
      : parts(shape),
        channels(static_cast<std::size_t>(shape.channels)),
        pixels(static_cast<std::size_t>(shape.pixels())) {
    const std::size_t items = pixels % pack == 0 ? pixels / pack : pixels;
    while (lanes < kChannelThreads && lanes < items &&
           (lanes < kLanes || lanes * parts.part_rows < kChannelThreads))
      lanes *= 2;
  }
  Shape shape() const {
    return {{static_cast<unsigned>(channels * parts.count), 1, 1}, {kChannelThreads, 1, 1}};
  }

  static constexpr int kChannels = 1;  // of a thread
  __device__ static int channel_of(std::size_t) { return 0; }
  __device__ std::size_t channel() const { return blockIdx.x % channels; }  // the first of them
  __device__ bool has_channels() const { return true; }
  __device__ std::size_t part() const { return blockIdx.x / channels; }
  // Whether the calling thread writes what its channels' parts come to.
  __device__ bool leads() const { return threadIdx.x == 0; }

  // Calls body(width, flight) for the calling thread's values, kPacks packs at a time.
  template <int kPacks, typename Body, typename... T>
  __device__ void visit(const Body& body, const T*... arrays) const {
    constexpr int kPack = kPackOf<T...>;
    const std::size_t end = parts.end(part());
    for (std::size_t n = parts.begin(part()) + threadIdx.x / lanes; n < end;
         n += blockDim.x / lanes) {
      const std::size_t first = (n * channels + channel()) * pixels;
      const std::size_t packs = (is_aligned(arrays + first) && ...) ? pixels / kPack : 0;
      for_flights<kPack, kPacks>(
          threadIdx.x % lanes, lanes, pixels, packs, [&](auto width, const Flight& flight) {
            body(width, Flight{first + flight.first, flight.apart, first + flight.end});
          });
    }
  }

  __device__ Pack<float, 1> total(const Pack<float, 1>& own) const {
    return {{block_sum(own.values[0])}};
  }

  ChannelParts parts;
  std::size_t channels;
  std::size_t pixels;
  unsigned lanes = 1;  // threads that share a plane, a power of two
};

// A part of channels that lie side by side: threads too, each with kCount channels of every so many
// pixels.
template <int kCount>
struct PixelWalk {
  explicit PixelWalk(const Image& shape)
      : parts(shape), channels(static_cast<std::size_t>(shape.channels)) {
    while (lanes * kCount < std::min(channels, kChannelsTogether)) lanes *= 2;
    strips = static_cast<unsigned>((channels + lanes * kCount - 1) / (lanes * kCount));
  }
  Shape shape() const {
    return {{static_cast<unsigned>(strips * parts.count), 1, 1}, {kChannelThreads, 1, 1}};
  }

  static constexpr int kChannels = kCount;
  __device__ static int channel_of(std::size_t k) { return static_cast<int>(k); }
  __device__ std::size_t channel() const {
    return std::size_t{blockIdx.x % strips * lanes + threadIdx.x % lanes} * kCount;
  }
  __device__ bool has_channels() const { return channel() < channels; }
  __device__ std::size_t part() const { return blockIdx.x / strips; }
  __device__ bool leads() const { return threadIdx.x < lanes && has_channels(); }

  template <int kPacks, typename Body, typename... T>
  __device__ void visit(const Body& body, const T*...) const {
    if (!has_channels()) return;
    const std::size_t end = parts.end(part()), first = channel();
    const std::size_t apart = blockDim.x / lanes;
    for (std::size_t row = parts.begin(part()) + threadIdx.x / lanes; row < end;
         row += kPacks * apart) {
      body(Width<kCount>{}, Flight{row * channels + first, apart * channels, end * channels});
    }
  }

  // Of all threads with the same channels; each time the upper half of those left to the lower.
  __device__ Pack<float, kCount> total(const Pack<float, kCount>& own) const {
    __shared__ Pack<float, kCount> sums[kChannelThreads];
    __syncthreads();  // what the last call left has been read
    sums[threadIdx.x] = own;
    __syncthreads();
    for (unsigned left = blockDim.x / 2; left >= lanes; left /= 2) {
      for (int k = 0; k < kCount && threadIdx.x < left; ++k) {
        sums[threadIdx.x].values[k] += sums[threadIdx.x + left].values[k];
      }
      __syncthreads();
    }
    return sums[threadIdx.x % lanes];
  }

  ChannelParts parts;
  std::size_t channels;
  unsigned lanes = 1;   // threads side by side, a power of two
  unsigned strips = 1;  // blocks side by side
};

// Calls body(walk) with the one for the shape, 16 bytes at a time where that is possible.
template <typename Body, typename... T>
void with_channel_walk(const Image& shape, const Body& body, const T*... arrays) {
  constexpr int kPack = kPackOf<T...>;
  if (!ChannelParts(shape).by_pixels) return body(PlaneWalk(shape, kPack));
  if (shape.channels % kPack == 0 && (is_aligned(arrays) && ...))
    return body(PixelWalk<kPack>(shape));
  body(PixelWalk<1>(shape));
}

// A number for each of a thread's channels.
template <typename Walk>
using OfChannels = Pack<float, Walk::kChannels>;

// Packs of each array that a thread has under way: 64 bytes, if there are so many.
template <typename... In>
inline constexpr int kChannelFlight = sizeof...(In) == 1 ? 4 : 2;

// Calls body(k, values...) for the calling thread's values, k telling which of its channels.
template <typename Walk, typename Body, typename... T>
__device__ void for_channels(const Walk& walk, const Body& body, const T*... arrays) {
  constexpr int kPacks = kChannelFlight<T...>;
  const auto take = [&](auto width, const Flight& flight) {
    constexpr int kCount = decltype(width)::kValues;
    const auto each = [&](std::size_t, const auto&... packs) {
      for (int k = 0; k < kCount; ++k)
        body(Walk::channel_of(static_cast<std::size_t>(k)), widen(packs.values[k])...);
    };
    with_flight<kCount, kPacks>(flight, each, arrays...);
  };
  walk.template visit<kPacks>(take, arrays...);
}

// out = f(k, values...) likewise. `out` may be one of the arrays.
template <typename Walk, typename Function, typename T, typename... In>
__device__ void map_channels(const Walk& walk, const Function& f, T* out, const In*... in) {
  constexpr int kPacks = kChannelFlight<In...>;
  const auto take = [&](auto width, const Flight& flight) {
    constexpr int kCount = decltype(width)::kValues;
    const auto each = [&](std::size_t begin, const auto&... packs) {
      Pack<T, kCount> results;
      for (int k = 0; k < kCount; ++k)
        results.values[k] =
            narrow<T>(f(Walk::channel_of(static_cast<std::size_t>(k)), widen(packs.values[k])...));
      store_pack(out + begin, results);
    };
    with_flight<kCount, kPacks>(flight, each, in...);
  };
  walk.template visit<kPacks>(take, static_cast<const T*>(out), in...);
}

// Σ term(k, values...) over the block's part of each channel.
template <typename Walk, typename Term, typename... T>
__device__ OfChannels<Walk> part_sums(const Walk& walk, const Term& term, const T*... arrays) {
  OfChannels<Walk> own{};
  for_channels(
      walk, [&](int k, auto... values) { own.values[k] += term(k, values...); }, arrays...);
  return walk.total(own);
}

// Each channel's parts lie side by side.
template <typename Walk>
__device__ void keep_part(const Walk& walk, const OfChannels<Walk>& sums, float* parts) {
  if (!walk.leads()) return;
  for (int k = 0; k < Walk::kChannels; ++k) {
    const std::size_t c = walk.channel() + static_cast<std::size_t>(k);
    parts[c * walk.parts.count + walk.part()] = sums.values[k];
  }
}

// Σ term(part) by one block.
template <typename Term>
__device__ float sum_of_parts(std::size_t count, const Term& term) {
  float own = 0;
  for (std::size_t part = threadIdx.x; part < count; part += blockDim.x) own += term(part);
  return block_sum(own);
}

// Of blocks that add parts up, one for each channel.
inline Shape shape_for_parts(const Image& shape, const ChannelParts& parts) {
  const std::size_t threads = std::clamp<std::size_t>(parts.count, kLanes, kChannelThreads);
  return {{static_cast<unsigned>(shape.channels), 1, 1},
          {static_cast<unsigned>(threads / kLanes * kLanes), 1, 1}};
}

// Floats of room for parts of so many sums over each channel.
inline std::size_t channel_parts_workspace(const Image& shape, std::size_t sums) {
  return shape.size() == 0
             ? 0
             : sums * static_cast<std::size_t>(shape.channels) * ChannelParts(shape).count;
}

template <int kSums>
struct ChannelTotals {
  float* of[kSums];  // of each channel
};

template <int kSums>
__global__ void channel_totals_kernel(std::size_t count, const float* parts,
                                      const __grid_constant__ ChannelTotals<kSums> totals,
                                      bool adds) {
  const float* own = parts + (std::size_t{blockIdx.y} * gridDim.x + blockIdx.x) * count;
  const float total = sum_of_parts(count, [&](std::size_t part) { return own[part]; });
  if (threadIdx.x != 0) return;
  float& to = totals.of[blockIdx.y][blockIdx.x];
  to = adds ? to + total : total;
}

// totals[sum][c] = the sum of the channel's parts, or added to it; the parts of one sum for all
// channels lie before the next's.
template <int kSums>
void add_channel_parts(const char* name, Stream stream, const Image& image, const float* parts,
                       const ChannelTotals<kSums>& totals, Into into) {
  const ChannelParts of(image);
  Shape shape = shape_for_parts(image, of);
  shape.blocks.y = kSums;
  launch(name, channel_totals_kernel<kSums>, stream, shape, of.count, parts, totals,
         into == Into::kAdd);
}

}  // namespace trainscope::kernels
