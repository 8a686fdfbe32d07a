#include "kernels/conv2d.h"

#include <algorithm>

#include "kernels/channels.cuh"
#include "kernels/column_sums.cuh"
#include "kernels/divisor.cuh"
#include "kernels/tile_product.cuh"

namespace trainscope::kernels {
namespace {

// Divides by a whole number that the host knows.
struct Split {
  explicit Split(int by) : divisor(static_cast<std::size_t>(by)) {}

  struct Parts {
    int quotient;
    int rest;
  };
  __device__ Parts operator()(int number) const {
    const auto parts = divisor.split(static_cast<std::uint32_t>(number));
    return {static_cast<int>(parts.quotient), static_cast<int>(parts.rest)};
  }

  Divisor divisor;
};

// A pixel of any image of a batch.
struct PixelPlace {
  int image;
  int pixel;
  int line;
  int column;
};

struct PixelPlaces {
  explicit PixelPlaces(const Image& shape) : pixels(shape.pixels()), width(shape.width) {}

  __device__ PixelPlace operator()(int n) const {
    const Split::Parts of_images = pixels(n);
    const Split::Parts of_lines = width(of_images.rest);
    return {of_images.quotient, of_images.rest, of_lines.quotient, of_lines.rest};
  }

  Split pixels;
  Split width;
};

// A term of a window: a channel of its group and an element of the kernel, counted as the weights
// lie in memory.
struct Term {
  int channel;
  int u;
  int v;
};

struct Terms {
  explicit Terms(const Conv2d& conv)
      : channels_last(conv.input.channels_last),
        inner(channels_last ? conv.group_channels() : conv.kernel_pixels()),
        width(conv.horizontal.size) {}

  __device__ Term operator()(int term) const {
    const Split::Parts parts = inner(term);
    const Split::Parts element = width(channels_last ? parts.quotient : parts.rest);
    return {channels_last ? parts.rest : parts.quotient, element.quotient, element.rest};
  }

  bool channels_last;
  Split inner;
  Split width;
};

// The first channel and the first output of a group.
struct Group {
  int channel;
  int output;
};

inline __device__ Group group_of(const Conv2d& conv, int number) {
  return {number * conv.group_channels(), number * conv.group_outputs()};
}

// Images as windows that stand at the pixels of the output.
template <typename T>
struct Windows {
  Windows(const Conv2d& of, const T* images)
      : conv(of), places(of.output()), terms(of), x(images) {}

  // The value of a group's image that the term meets at a pixel of the output; 0 in the padding.
  __device__ float operator()(const Group& group, int term, int n) const {
    const PixelPlace place = places(n);
    const Term at = terms(term);
    const int line = conv.vertical.source(place.line, at.u);
    const int column = conv.horizontal.source(place.column, at.v);
    if (line < 0 || line >= conv.input.height || column < 0 || column >= conv.input.width) return 0;
    const int channel = group.channel + at.channel;
    return widen(x[conv.input.at(place.image, channel, line * conv.input.width + column)]);
  }

  Conv2d conv;
  PixelPlaces places;
  Terms terms;
  const T* x;
};

// y: outputs x pixels, over terms. A batch of products is the groups.
template <typename T>
struct ForwardProduct {
  ForwardProduct(const Conv2d& conv, const T* x, const T* weights, const T* biases, T* results)
      : windows(conv, x),
        output(conv.output()),
        m(conv.group_outputs()),
        n(output.batch * output.pixels()),
        terms(conv.group_channels() * conv.kernel_pixels()),
        w(weights),
        bias(biases),
        y(results) {}
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = false;

  __device__ Group batch(int number) const { return group_of(windows.conv, number); }
  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(const Group& group, int row, int term) const {
    return widen(w[static_cast<std::size_t>(group.output + row) * terms + term]);
  }
  __device__ float b(const Group& group, int term, int pixel) const {
    return windows(group, term, pixel);
  }
  __device__ void store(const Group& group, int row, int pixel, float sum) const {
    const PixelPlace place = windows.places(pixel);
    const int channel = group.output + row;
    if (bias != nullptr) sum += widen(bias[channel]);
    y[output.at(place.image, channel, place.pixel)] = narrow<T>(sum);
  }

  Windows<T> windows;
  Image output;
  int m;
  int n;
  int terms;
  const T* w;
  const T* bias;
  T* y;
};

// dx: channels x pixels of the input, over outputs and elements of the kernel.
template <typename T>
struct InputProduct {
  InputProduct(const Conv2d& of, const T* weights, const T* gradient, T* result)
      : conv(of),
        output(of.output()),
        places(of.input),
        elements(of.kernel_pixels()),
        width(of.horizontal.size),
        down(of.vertical.stride),
        across(of.horizontal.stride),
        m(of.group_channels()),
        n(of.input.batch * of.input.pixels()),
        terms(of.group_outputs() * of.kernel_pixels()),
        w(weights),
        dy(gradient),
        dx(result) {}
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = false;

  __device__ Group batch(int number) const { return group_of(conv, number); }
  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(const Group& group, int channel, int term) const {
    const int pixels = conv.kernel_pixels();
    const Split::Parts at = elements(term);
    const int row = group.output + at.quotient;
    const int within =
        conv.input.channels_last ? at.rest * m + channel : channel * pixels + at.rest;
    return widen(w[static_cast<std::size_t>(row) * m * pixels + within]);
  }
  // The place of the output whose window has its element `k` at `source`, of `count`; -1: none.
  static __device__ int place_of(const Window& window, const Split& stride, int source, int k,
                                 int count) {
    const int shifted = source + window.padding - k * window.dilation;
    if (shifted < 0) return -1;
    const Split::Parts at = stride(shifted);
    return at.rest == 0 && at.quotient < count ? at.quotient : -1;
  }
  // The gradient of the output that the element of the kernel carries to this pixel.
  __device__ float b(const Group& group, int term, int pixel) const {
    const PixelPlace place = places(pixel);
    const Split::Parts at = elements(term);
    const Split::Parts element = width(at.rest);
    const int i = place_of(conv.vertical, down, place.line, element.quotient, output.height);
    const int j = place_of(conv.horizontal, across, place.column, element.rest, output.width);
    if (i < 0 || j < 0) return 0;
    const int channel = group.output + at.quotient;
    return widen(dy[output.at(place.image, channel, i * output.width + j)]);
  }
  __device__ void store(const Group& group, int channel, int pixel, float sum) const {
    const PixelPlace place = places(pixel);
    dx[conv.input.at(place.image, group.channel + channel, place.pixel)] = narrow<T>(sum);
  }

  Conv2d conv;
  Image output;
  PixelPlaces places;
  Split elements;  // of the kernel
  Split width;     // of the kernel
  Split down;
  Split across;
  int m;
  int n;
  int terms;
  const T* w;
  const T* dy;
  T* dx;
};

// Pixels of the output that the weights' gradients are sums over, cut into parts: there are few
// tiles of weights, and many pixels.
struct PixelParts {
  explicit PixelParts(const Conv2d& conv) {
    constexpr unsigned kBlocks = 256;  // that keep a device busy
    constexpr int kFewest = 8 * kDepth;
    const Image output = conv.output();
    const int pixels = output.batch * output.pixels();
    const unsigned tiles = static_cast<unsigned>(conv.groups) * tiles_along(conv.group_outputs()) *
                           tiles_along(conv.group_channels() * conv.kernel_pixels());
    const int wanted = static_cast<int>((kBlocks + tiles - 1) / std::max(tiles, 1U));
    const int about = std::clamp(pixels / kFewest, 1, std::max(wanted, 1));
    each = ((pixels + about - 1) / about + kDepth - 1) / kDepth * kDepth;
    count = std::max(1, (pixels + each - 1) / std::max(each, 1));
  }

  int each;  // the last may have fewer
  int count;
};

std::size_t weights_of(const Conv2d& conv) {
  return static_cast<std::size_t>(conv.outputs) * static_cast<std::size_t>(conv.group_channels()) *
         static_cast<std::size_t>(conv.kernel_pixels());
}

// A group, and a part of the pixels.
struct GroupPart {
  Group group;
  int part;
};

// dw: outputs x terms, over pixels of the output; the sums of each part lie side by side. A batch
// of products is the groups, part by part.
template <typename T>
struct WeightsProduct {
  WeightsProduct(const Conv2d& conv, const PixelParts& of, const T* x, const T* gradient,
                 float* results, bool is_added)
      : windows(conv, x),
        output(conv.output()),
        parts(of),
        m(conv.group_outputs()),
        n(conv.group_channels() * conv.kernel_pixels()),
        terms(output.batch * output.pixels()),
        dy(gradient),
        sums(results),
        adds(is_added) {}
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = true;

  __device__ GroupPart batch(int number) const {
    const int groups = windows.conv.groups;
    return {group_of(windows.conv, number % groups), number / groups};
  }
  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(const GroupPart& of, int row, int pixel) const {
    const PixelPlace place = windows.places(pixel);
    return widen(dy[output.at(place.image, of.group.output + row, place.pixel)]);
  }
  __device__ float b(const GroupPart& of, int pixel, int term) const {
    return windows(of.group, term, pixel);
  }
  __device__ void store(const GroupPart& of, int row, int term, float sum) const {
    const int line = of.part * windows.conv.outputs + of.group.output + row;
    float& value = sums[static_cast<std::size_t>(line) * n + term];
    value = adds ? value + sum : sum;
  }

  Windows<T> windows;
  Image output;
  PixelParts parts;
  int m;
  int n;
  int terms;
  const T* dy;
  float* sums;
  bool adds;
};

template <typename T>
__device__ TermRange terms_of(const WeightsProduct<T>& product, const GroupPart& of) {
  const int begin = of.part * product.parts.each;
  const int end = begin + product.parts.each;
  return {begin, end < product.terms ? end : product.terms};
}

template <typename Walk, typename T>
__global__ void conv2d_bias_kernel(Walk walk, const T* dy, float* parts) {
  keep_part(walk, part_sums(walk, [](int, float value) { return value; }, dy), parts);
}

}  // namespace

template <typename T>
void conv2d_forward(Stream stream, const Conv2d& conv, const T* x, const T* w, const T* bias,
                    T* y) {
  multiply("conv2d_forward", stream, ForwardProduct<T>(conv, x, w, bias, y), conv.groups);
}

template <typename T>
void conv2d_backward_input(Stream stream, const Conv2d& conv, const T* w, const T* dy, T* dx) {
  multiply("conv2d_backward_input", stream, InputProduct<T>(conv, w, dy, dx), conv.groups);
}

std::size_t conv2d_weights_workspace(const Conv2d& conv) {
  const int parts = PixelParts(conv).count;
  return parts == 1 ? 0 : static_cast<std::size_t>(parts) * weights_of(conv);
}

template <typename T>
void conv2d_backward_weights(Stream stream, const Conv2d& conv, const T* x, const T* dy,
                             float* workspace, float* dw, Into into) {
  const char* name = "conv2d_backward_weights";
  const PixelParts parts(conv);
  if (parts.count == 1) {
    const WeightsProduct<T> product(conv, parts, x, dy, dw, into == Into::kAdd);
    return multiply(name, stream, product, conv.groups);
  }
  const WeightsProduct<T> product(conv, parts, x, dy, workspace, false);
  multiply(name, stream, product, conv.groups * parts.count);
  const std::size_t weights = weights_of(conv);
  const PartSums sums{workspace, static_cast<std::size_t>(parts.count), weights};
  launch(name, add_parts_kernel<1, StoreSum<float>>, stream, shape_for(weights), sums,
         StoreSum<float>{dw, into});
}

std::size_t conv2d_bias_workspace(const Conv2d& conv) {
  return channel_parts_workspace(conv.output(), 1);
}

template <typename T>
void conv2d_backward_bias(Stream stream, const Conv2d& conv, const T* dy, float* workspace,
                          float* db, Into into) {
  const Image output = conv.output();
  if (output.size() == 0) return;
  const char* name = "conv2d_backward_bias";
  const auto sum = [&](const auto& walk) {
    launch(name, conv2d_bias_kernel<std::decay_t<decltype(walk)>, T>, stream, walk.shape(), walk,
           dy, workspace);
  };
  with_channel_walk(output, sum, dy);
  add_channel_parts(name, stream, output, workspace, ChannelTotals<1>{{db}}, into);
}

#define TRAINSCOPE_INSTANTIATE(T)                                                                  \
  template void conv2d_forward(Stream, const Conv2d&, const T*, const T*, const T*, T*);           \
  template void conv2d_backward_input(Stream, const Conv2d&, const T*, const T*, T*);              \
  template void conv2d_backward_weights(Stream, const Conv2d&, const T*, const T*, float*, float*, \
                                        Into);                                                     \
  template void conv2d_backward_bias(Stream, const Conv2d&, const T*, float*, float*, Into)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
