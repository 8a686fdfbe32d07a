#include "kernels/conv2d.h"

#include "kernels/channels.cuh"
#include "kernels/tile_product.cuh"

namespace trainscope::kernels {
namespace {

// A term of a window: a channel of its group and an element of the kernel, counted as the weights
// lie in memory.
struct Term {
  __device__ Term(const Conv2d& conv, int term) {
    const int channels = conv.group_channels();
    const int pixels = conv.kernel_pixels();
    const bool last = conv.input.channels_last;
    channel = last ? term % channels : term / pixels;
    const int pixel = last ? term / channels : term % pixels;
    u = pixel / conv.horizontal.size;
    v = pixel % conv.horizontal.size;
  }
  int channel;
  int u;
  int v;
};

// A pixel of any image of a batch.
struct Pixel {
  __device__ Pixel(const Image& shape, int n)
      : image(n / shape.pixels()), pixel(n % shape.pixels()) {}
  int image;
  int pixel;
};

// The value of a group's image that the term meets at a pixel of the output; 0 in the padding.
template <typename T>
__device__ float window_value(const Conv2d& conv, const T* x, int group, int term, int n) {
  const Image output = conv.output();
  const Pixel place(output, n);
  const Term at(conv, term);
  const int line = conv.vertical.source(place.pixel / output.width, at.u);
  const int column = conv.horizontal.source(place.pixel % output.width, at.v);
  if (line < 0 || line >= conv.input.height || column < 0 || column >= conv.input.width) return 0;
  const int channel = group * conv.group_channels() + at.channel;
  return widen(x[conv.input.at(place.image, channel, line * conv.input.width + column)]);
}

// y: outputs x pixels, over terms. A batch of products is the groups.
template <typename T>
struct ForwardProduct {
  Conv2d conv;
  int m;
  int n;
  int terms;
  const T* x;
  const T* w;
  const T* bias;
  T* y;
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = false;

  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(int group, int output, int term) const {
    return widen(w[static_cast<std::size_t>(group * m + output) * terms + term]);
  }
  __device__ float b(int group, int term, int pixel) const {
    return window_value(conv, x, group, term, pixel);
  }
  __device__ void store(int group, int output, int pixel, float sum) const {
    const Image shape = conv.output();
    const Pixel place(shape, pixel);
    const int channel = group * m + output;
    if (bias != nullptr) sum += widen(bias[channel]);
    y[shape.at(place.image, channel, place.pixel)] = narrow<T>(sum);
  }
};

// dx: channels x pixels of the input, over outputs and elements of the kernel.
template <typename T>
struct InputProduct {
  Conv2d conv;
  int m;
  int n;
  int terms;
  const T* w;
  const T* dy;
  T* dx;
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = false;

  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(int group, int channel, int term) const {
    const int pixels = conv.kernel_pixels();
    const int output = group * conv.group_outputs() + term / pixels;
    const int within =
        conv.input.channels_last ? term % pixels * m + channel : channel * pixels + term % pixels;
    return widen(w[static_cast<std::size_t>(output) * m * pixels + within]);
  }
  // The gradient of the output that the element of the kernel carries to this pixel.
  __device__ float b(int group, int term, int pixel) const {
    const Image output = conv.output();
    const Pixel place(conv.input, pixel);
    const int element = term % conv.kernel_pixels();
    const int i = conv.vertical.place_of(place.pixel / conv.input.width,
                                         element / conv.horizontal.size, output.height);
    const int j = conv.horizontal.place_of(place.pixel % conv.input.width,
                                           element % conv.horizontal.size, output.width);
    if (i < 0 || j < 0) return 0;
    const int channel = group * conv.group_outputs() + term / conv.kernel_pixels();
    return widen(dy[output.at(place.image, channel, i * output.width + j)]);
  }
  __device__ void store(int group, int channel, int pixel, float sum) const {
    const Pixel place(conv.input, pixel);
    dx[conv.input.at(place.image, group * m + channel, place.pixel)] = narrow<T>(sum);
  }
};

// dw: outputs x terms, over pixels of the output.
template <typename T>
struct WeightsProduct {
  Conv2d conv;
  int m;
  int n;
  int terms;
  const T* x;
  const T* dy;
  float* dw;
  bool adds;
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = true;

  __device__ bool is_needed(int, int) const { return true; }
  __device__ float a(int group, int output, int pixel) const {
    const Image shape = conv.output();
    const Pixel place(shape, pixel);
    return widen(dy[shape.at(place.image, group * m + output, place.pixel)]);
  }
  __device__ float b(int group, int pixel, int term) const {
    return window_value(conv, x, group, term, pixel);
  }
  __device__ void store(int group, int output, int term, float sum) const {
    float& value = dw[static_cast<std::size_t>(group * m + output) * n + term];
    value = adds ? value + sum : sum;
  }
};

template <typename Walk, typename T>
__global__ void conv2d_bias_kernel(Walk walk, const T* dy, float* parts) {
  keep_part(walk, part_sums(walk, [](int, float value) { return value; }, dy), parts);
}

}  // namespace

template <typename T>
void conv2d_forward(Stream stream, const Conv2d& conv, const T* x, const T* w, const T* bias,
                    T* y) {
  const Image output = conv.output();
  const ForwardProduct<T> product{conv,
                                  conv.group_outputs(),
                                  output.batch * output.pixels(),
                                  conv.group_channels() * conv.kernel_pixels(),
                                  x,
                                  w,
                                  bias,
                                  y};
  multiply("conv2d_forward", stream, product, conv.groups);
}

template <typename T>
void conv2d_backward_input(Stream stream, const Conv2d& conv, const T* w, const T* dy, T* dx) {
  const InputProduct<T> product{conv,
                                conv.group_channels(),
                                conv.input.batch * conv.input.pixels(),
                                conv.group_outputs() * conv.kernel_pixels(),
                                w,
                                dy,
                                dx};
  multiply("conv2d_backward_input", stream, product, conv.groups);
}

template <typename T>
void conv2d_backward_weights(Stream stream, const Conv2d& conv, const T* x, const T* dy, float* dw,
                             Into into) {
  const Image output = conv.output();
  const WeightsProduct<T> product{conv,
                                  conv.group_outputs(),
                                  conv.group_channels() * conv.kernel_pixels(),
                                  output.batch * output.pixels(),
                                  x,
                                  dy,
                                  dw,
                                  into == Into::kAdd};
  multiply("conv2d_backward_weights", stream, product, conv.groups);
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

#define TRAINSCOPE_INSTANTIATE(T)                                                                 \
  template void conv2d_forward(Stream, const Conv2d&, const T*, const T*, const T*, T*);          \
  template void conv2d_backward_input(Stream, const Conv2d&, const T*, const T*, T*);             \
  template void conv2d_backward_weights(Stream, const Conv2d&, const T*, const T*, float*, Into); \
  template void conv2d_backward_bias(Stream, const Conv2d&, const T*, float*, float*, Into)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
