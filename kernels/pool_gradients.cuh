// The gradient of a value that was pooled: max_pool.h's and average_pool.h's formulas.
#pragma once

#include "kernels/max_pool.h"
#include "kernels/pack.cuh"

namespace trainscope::kernels {

// Looks at every window that may have chosen the value, in their order.
template <typename T>
struct MaxPoolGradient {
  MaxPool pool;
  const T* dy;
  const std::int32_t* chosen;

  // The first place whose window may reach to `source`, and behind the last.
  static __device__ int begin(const Window& window, int source) {
    const int over = source + window.padding - window.dilation * (window.size - 1);
    return over <= 0 ? 0 : (over + window.stride - 1) / window.stride;
  }
  static __device__ int end(const Window& window, int source, int places) {
    const int after = (source + window.padding) / window.stride + 1;
    return after < places ? after : places;
  }

  __device__ float operator()(std::size_t at) const {
    const Image output = pool.output();
    const ImagePlace place = place_in(pool.input, at);
    const int line = place.pixel / pool.input.width;
    const int column = place.pixel - line * pool.input.width;
    const int i_end = end(pool.vertical, line, output.height);
    const int j_end = end(pool.horizontal, column, output.width);
    const int j_begin = begin(pool.horizontal, column);
    float total = 0;
    for (int i = begin(pool.vertical, line); i < i_end; ++i) {
      for (int j = j_begin; j < j_end; ++j) {
        const std::size_t window = output.at(place.image, place.channel, i * output.width + j);
        if (chosen[window] == place.pixel) total += widen(dy[window]);
      }
    }
    return total;
  }
};

template <typename T>
struct AveragePoolGradient {
  Image shape;
  const T* dy;

  __device__ float operator()(std::size_t i) const {
    const ImagePlace place = place_in(shape, i);
    const std::size_t from = static_cast<std::size_t>(place.image) * shape.channels + place.channel;
    return __fmul_rn(widen(dy[from]), 1 / static_cast<float>(shape.pixels()));
  }
};

}  // namespace trainscope::kernels
