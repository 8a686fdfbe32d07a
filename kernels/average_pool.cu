#include "kernels/average_pool.h"

#include "kernels/block.cuh"
#include "kernels/map.cuh"
#include "kernels/pool_items.cuh"

namespace trainscope::kernels {
namespace {

// How a plane in NCHW memory is shared: 2^shift neighbouring lanes of a warp.
struct PlaneShare {
  std::size_t pixels;
  std::size_t packs;  // of a plane that pixels fill, each of them aligned; or 0
  unsigned shift = 0;

  template <typename T>
  PlaneShare(const Image& shape, const T* x)
      : pixels(static_cast<std::size_t>(shape.pixels())),
        packs(is_aligned(x) && pixels % kPackOf<T> == 0 ? pixels / kPackOf<T> : 0) {
    constexpr std::size_t kEach = 4;  // loads of a lane, if there are enough
    const std::size_t loads = packs == 0 ? pixels : packs;
    while ((std::size_t{2} << shift) <= kLanes && (kEach << (shift + 1)) <= loads) ++shift;
  }
};

template <typename T>
__global__ void mean_of_planes_kernel(PlaneShare share, std::size_t planes, const T* x, T* y) {
  const std::size_t plane = first_item() >> share.shift;
  const unsigned lanes = 1U << share.shift;
  const unsigned lane = threadIdx.x % lanes;
  float sum = 0;
  if (plane < planes) {
    const T* from = x + plane * share.pixels;
    const auto add = [&](std::size_t, float value) { sum += value; };
    for_items<kPackOf<T>>(lane, lanes, share.pixels, share.packs, [&](auto width, std::size_t i) {
      with_packs<decltype(width)::kValues>(i, add, from);
    });
  }
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(apart));
  }
  if (lane == 0 && plane < planes) y[plane] = narrow<T>(sum / static_cast<float>(share.pixels));
}

// In NHWC memory a thread sums some pixels of a pack of channels, and threads of one x the others.
constexpr unsigned kPixelThreads = 8;

template <typename T, int kPack>
__global__ void mean_of_channels_kernel(Divisor packs, std::size_t images, std::size_t pixels,
                                        const T* x, T* y) {
  __shared__ float sums[kPixelThreads][kLanes][kPack];
  const std::size_t item = std::size_t{blockIdx.x} * kLanes + threadIdx.x;
  const auto place = packs.split(item);
  const std::size_t channels = packs.by() * kPack;
  float own[kPack] = {};
  for (std::size_t p = threadIdx.y; place.quotient < images && p < pixels; p += kPixelThreads) {
    const std::size_t at = (place.quotient * pixels + p) * channels + place.rest * kPack;
    const Pack<T, kPack> values = load_pack<kPack>(x + at);
    for (int k = 0; k < kPack; ++k) own[k] += widen(values.values[k]);
  }
  for (int k = 0; k < kPack; ++k) sums[threadIdx.y][threadIdx.x][k] = own[k];
  __syncthreads();
  if (threadIdx.y != 0 || place.quotient >= images) return;
  Pack<T, kPack> means;
  for (int k = 0; k < kPack; ++k) {
    for (unsigned part = 1; part < kPixelThreads; ++part) own[k] += sums[part][threadIdx.x][k];
    means.values[k] = narrow<T>(own[k] / static_cast<float>(pixels));
  }
  store_pack(y + item * kPack, means);
}

template <int kPack, typename T>
void mean_of_channels(Stream stream, const Image& shape, const T* x, T* y) {
  const Divisor packs(static_cast<std::size_t>(shape.channels) / kPack);
  const auto images = static_cast<std::size_t>(shape.batch);
  const std::size_t blocks = (images * packs.by() + kLanes - 1) / kLanes;
  launch("average_pool_forward", mean_of_channels_kernel<T, kPack>, stream,
         Shape{{static_cast<unsigned>(blocks), 1, 1}, {kLanes, kPixelThreads, 1}}, packs, images,
         static_cast<std::size_t>(shape.pixels()), x, y);
}

// In NCHW memory values of a plane get the same, and a pack has those of one plane or of a few.
template <typename T>
__global__ void spread_over_planes_kernel(Divisor pixels, float share, std::size_t count,
                                          std::size_t packs, const T* dy, T* dx) {
  for_items<kPackOf<T>>(first_item(), item_step(), count, packs,
                        [&](auto width, std::size_t first) {
                          constexpr int kCount = decltype(width)::kValues;
                          auto place = pixels.split(first);
                          float gradient = widen(dy[place.quotient]) * share;
                          Pack<T, kCount> results;
                          for (int k = 0; k < kCount; ++k) {
                            if (place.rest == pixels.by()) {
                              place.rest = 0;
                              gradient = widen(dy[++place.quotient]) * share;
                            }
                            results.values[k] = narrow<T>(gradient);
                            ++place.rest;
                          }
                          store_pack(dx + first, results);
                        });
}

// In NHWC memory an item is a pack of a pixel's channels.
template <typename T, int kPack>
__global__ void spread_over_pixels_kernel(PoolItems items, std::size_t channels, float share,
                                          const T* dy, T* dx) {
  for (std::size_t i = first_item(); i < items.count(); i += item_step()) {
    const PoolItem item = items.at<false>(i);
    Pack<T, kPack> values = load_pack<kPack>(dy + item.plane * channels + item.channel);
    for (int k = 0; k < kPack; ++k) {
      values.values[k] = narrow<T>(widen(values.values[k]) * share);
    }
    store_pack(dx + i * kPack, values);
  }
}

float share_of(const Image& shape) {
  return 1 / static_cast<float>(shape.pixels());
}

template <int kPack, typename T>
void spread_over_pixels(Stream stream, const Image& shape, const T* dy, T* dx) {
  const PoolItems items(Planes(shape), 1, kPack);
  launch("average_pool_backward", spread_over_pixels_kernel<T, kPack>, stream,
         shape_for(items.count()), items, static_cast<std::size_t>(shape.channels), share_of(shape),
         dy, dx);
}

template <typename T>
void spread_over_planes(Stream stream, const Image& shape, const T* dy, T* dx) {
  const std::size_t packs = is_aligned(dx) ? shape.size() / kPackOf<T> : 0;
  launch("average_pool_backward", spread_over_planes_kernel<T>, stream,
         shape_for(packs + shape.size() - packs * kPackOf<T>),
         Divisor(static_cast<std::size_t>(shape.pixels())), share_of(shape), shape.size(), packs,
         dy, dx);
}

}  // namespace

template <typename T>
void average_pool_forward(Stream stream, const Image& shape, const T* x, T* y) {
  const auto planes =
      static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.channels);
  if (planes == 0) return;
  if (in_packs<T>(shape) && is_aligned(x) && is_aligned(y)) {
    mean_of_channels<kPackOf<T>>(stream, shape, x, y);
  } else if (shape.channels_last) {
    mean_of_channels<1>(stream, shape, x, y);
  } else {
    const PlaneShare share(shape, x);
    const std::size_t threads = planes << share.shift;
    const std::size_t blocks = (threads + kMapThreads - 1) / kMapThreads;
    launch("average_pool_forward", mean_of_planes_kernel<T>, stream,
           Shape{{static_cast<unsigned>(blocks), 1, 1}, {kMapThreads, 1, 1}}, share, planes, x, y);
  }
}

template <typename T>
void average_pool_backward(Stream stream, const Image& shape, const T* dy, T* dx) {
  if (shape.size() == 0) return;
  if (!shape.channels_last) {
    spread_over_planes(stream, shape, dy, dx);
  } else if (in_packs<T>(shape) && is_aligned(dy) && is_aligned(dx)) {
    spread_over_pixels<kPackOf<T>>(stream, shape, dy, dx);
  } else {
    spread_over_pixels<1>(stream, shape, dy, dx);
  }
}

template void average_pool_forward(Stream, const Image&, const float*, float*);
template void average_pool_forward(Stream, const Image&, const Half*, Half*);
template void average_pool_forward(Stream, const Image&, const Bfloat16*, Bfloat16*);
template void average_pool_backward(Stream, const Image&, const float*, float*);
template void average_pool_backward(Stream, const Image&, const Half*, Half*);
template void average_pool_backward(Stream, const Image&, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
