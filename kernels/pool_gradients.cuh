// The gradient of a value that was pooled: max_pool.h's and average_pool.h's formulas.
#pragma once

#include "kernels/max_pool.h"
#include "kernels/pack.cuh"

namespace trainscope::kernels {

// Looks at every window that may have chosen the value, the first place first, which is the last
// element of the window.
template <typename T>
struct MaxPoolGradient {
  MaxPool pool;
  const T* dy;
  const std::int32_t* chosen;

  __device__ float operator()(std::size_t at) const {
    const Image output = pool.output();
    const ImagePlace place = place_in(pool.input, at);
    float total = 0;
    for (int u = pool.vertical.size - 1; u >= 0; --u) {
      const int line = place.pixel / pool.input.width;
      const int i = pool.vertical.place_of(line, u, output.height);
      for (int v = pool.horizontal.size - 1; i >= 0 && v >= 0; --v) {
        const int column = place.pixel % pool.input.width;
        const int j = pool.horizontal.place_of(column, v, output.width);
        if (j < 0) continue;
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
    return widen(dy[from]) / static_cast<float>(shape.pixels());
  }
};

}  // namespace trainscope::kernels
