// A batch of images in memory, and windows that slide over it, as kernels take them.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// PyTorch's torch.contiguous_format (NCHW) and torch.channels_last (NHWC); shapes are named in the
// order batch, channels, height, width, whichever the memory has.
struct Image {
  int batch = 0;
  int channels = 0;
  int height = 0;
  int width = 0;
  bool channels_last = false;

  __host__ __device__ int pixels() const { return height * width; }
  __host__ __device__ std::size_t size() const {
    return static_cast<std::size_t>(batch) * channels * pixels();
  }
  // Where value (n, c, pixel) stands.
  __host__ __device__ std::size_t at(int n, int c, int pixel) const {
    const auto image = static_cast<std::size_t>(n) * channels * pixels();
    return image + (channels_last ? static_cast<std::size_t>(pixel) * channels + c
                                  : static_cast<std::size_t>(c) * pixels() + pixel);
  }
};

// The value that stands at `i`.
struct ImagePlace {
  int image;
  int channel;
  int pixel;
};

// `Index` holds all places of the image: the narrower, the faster a device divides.
template <typename Index>
__host__ __device__ ImagePlace place_by(const Image& image, Index i) {
  const auto channels = static_cast<Index>(image.channels);
  const auto pixels = static_cast<Index>(image.pixels());
  const auto number = i / (channels * pixels);
  const auto within = i - number * (channels * pixels);
  const auto side_by_side = image.channels_last ? channels : pixels;
  const auto outer = static_cast<int>(within / side_by_side);
  const auto inner = static_cast<int>(within % side_by_side);
  if (image.channels_last) return {static_cast<int>(number), inner, outer};
  return {static_cast<int>(number), outer, inner};
}

inline __host__ __device__ ImagePlace place_in(const Image& image, std::size_t i) {
  constexpr std::size_t kNarrow = 0xffffffff;
  return image.size() <= kNarrow ? place_by(image, static_cast<std::uint32_t>(i))
                                 : place_by(image, i);
}

// In one direction.
struct Window {
  int size = 1;
  int stride = 1;
  int padding = 0;
  int dilation = 1;

  // How many places it has along `length`; 0 where it does not fit.
  __host__ __device__ int places(int length) const {
    const int left = length + 2 * padding - dilation * (size - 1) - 1;
    return left < 0 ? 0 : left / stride + 1;
  }
  // Where element `k` stands at `place`: outside 0 to before the length it is in the padding.
  __host__ __device__ int source(int place, int k) const {
    return place * stride + k * dilation - padding;
  }
  // The place at which element `k` stands at `source`, of `count`; -1 where there is none.
  __host__ __device__ int place_of(int source, int k, int count) const {
    const int shifted = source + padding - k * dilation;
    if (shifted < 0 || shifted % stride != 0 || shifted / stride >= count) return -1;
    return shifted / stride;
  }
};

}  // namespace trainscope::kernels
