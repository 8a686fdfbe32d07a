// How images are dealt to threads: a thread's item is a tile of pixels, some channels deep.
#pragma once

#include "kernels/divisor.cuh"
#include "kernels/image.h"
#include "kernels/pack.cuh"

namespace trainscope::kernels {

// A plane is a channel of an image in NCHW memory, a whole image in NHWC memory: from one pixel to
// the next it is `pitch` values.
struct Planes {
  std::size_t count = 0;
  std::size_t pitch = 1;
  std::size_t size = 0;  // values
  int height = 0;
  int width = 0;

  explicit Planes(const Image& image)
      : count(static_cast<std::size_t>(image.batch) *
              static_cast<std::size_t>(image.channels_last ? 1 : image.channels)),
        pitch(static_cast<std::size_t>(image.channels_last ? image.channels : 1)),
        size(pitch * static_cast<std::size_t>(image.pixels())),
        height(image.height),
        width(image.width) {}
};

// How far the pixel is from the first; kPlanar: the pitch is known to be 1.
template <bool kPlanar>
__device__ auto offset_of(int pixel, const Planes& planes) {
  if constexpr (kPlanar) {
    return pixel;
  } else {
    return static_cast<std::size_t>(pixel) * planes.pitch;
  }
}

struct PoolItem {
  std::size_t plane;
  int row;  // of tiles
  int column;
  std::size_t channel;  // that it begins with, among those that lie side by side
};

// Channels that lie side by side follow first, then columns, then rows.
class PoolItems {
 public:
  PoolItems(const Planes& planes, int tile, int pack)
      : packs_(planes.pitch / static_cast<std::size_t>(pack)),
        rows_(static_cast<std::size_t>((planes.height + tile - 1) / tile)),
        columns_(static_cast<std::size_t>((planes.width + tile - 1) / tile)),
        pack_(static_cast<std::size_t>(pack)),
        count_(planes.count * rows_.by() * columns_.by() * packs_.by()) {}

  __host__ __device__ std::size_t count() const { return count_; }

  template <bool kPlanar>
  __device__ PoolItem at(std::size_t item) const {
    return count_ < Divisor::kSmall ? find<kPlanar>(static_cast<std::uint32_t>(item))
                                    : find<kPlanar>(item);
  }

 private:
  template <bool kPlanar, typename Number>
  __device__ PoolItem find(Number item) const {
    Number channel = 0;
    if constexpr (!kPlanar) {
      const auto of_packs = packs_.split(item);
      channel = of_packs.rest;
      item = of_packs.quotient;
    }
    const auto of_columns = columns_.split(item);
    const auto of_rows = rows_.split(of_columns.quotient);
    return {of_rows.quotient, static_cast<int>(of_rows.rest), static_cast<int>(of_columns.rest),
            channel * pack_};
  }

  Divisor packs_;
  Divisor rows_;
  Divisor columns_;
  std::size_t pack_;
  std::size_t count_;
};

// Whether channels lie side by side in packs of 16 bytes of T.
template <typename T>
bool in_packs(const Image& image) {
  return image.channels_last && image.channels % kPackOf<T> == 0;
}

}  // namespace trainscope::kernels
