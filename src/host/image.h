// A batch of images, and how it lies in memory.
#pragma once

#include <cstddef>

namespace trainscope::host {

// PyTorch's torch.contiguous_format (NCHW) and torch.channels_last (NHWC); shapes are always named
// in the order batch, channels, height, width, whichever the memory has.
enum class ImageLayout { kChannelsFirst, kChannelsLast };

struct ImageShape {
  std::size_t batch = 0;
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  ImageLayout layout = ImageLayout::kChannelsFirst;

  std::size_t pixels() const { return height * width; }
  std::size_t image_size() const { return channels * pixels(); }
  std::size_t size() const { return batch * image_size(); }
  std::size_t channel_stride() const {
    return layout == ImageLayout::kChannelsFirst ? pixels() : 1;
  }
  std::size_t pixel_stride() const { return layout == ImageLayout::kChannelsFirst ? 1 : channels; }
};

// A window that slides over an image in one direction.
struct Window {
  std::size_t size = 1;
  std::size_t stride = 1;
  std::size_t padding = 0;
  std::size_t dilation = 1;

  std::size_t extent() const { return dilation * (size - 1) + 1; }
  // How many places it has along `length`; 0 where it does not fit.
  std::size_t places(std::size_t length) const {
    const std::size_t padded = length + 2 * padding;
    return padded < extent() ? 0 : (padded - extent()) / stride + 1;
  }
  // Where in the image element `k` of the window stands at its place `place`; `length` or more (by
  // wrapping round) where it is in the padding.
  std::size_t source(std::size_t place, std::size_t k) const {
    return place * stride + k * dilation - padding;
  }
  // The places, from `begin` to before `end`, at which element `k` is in the image and not in its
  // padding.
  struct Places {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Places places_inside(std::size_t k, std::size_t length) const {
    const std::size_t shift = k * dilation;
    if (shift >= length + padding) return {};
    const std::size_t begin = shift >= padding ? 0 : (padding - shift + stride - 1) / stride;
    const std::size_t end = (length + padding - shift - 1) / stride + 1;
    return {begin, end < places(length) ? end : places(length)};
  }
};

}  // namespace trainscope::host
