#include "kernels/max_pool.h"

#include "kernels/map.cuh"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {
namespace {

constexpr std::int32_t kNone = -1;

// An item is a value of the output.
template <typename T>
__global__ void max_pool_forward_kernel(MaxPool pool, const T* x, T* y, std::int32_t* chosen) {
  const Image output = pool.output();
  for (std::size_t i = first_item(); i < output.size(); i += item_step()) {
    const ImagePlace place = place_in(output, i);
    T best = narrow<T>(0);
    std::int32_t from = kNone;
    for (int u = 0; u < pool.vertical.size; ++u) {
      const int line = pool.vertical.source(place.pixel / output.width, u);
      if (line < 0 || line >= pool.input.height) continue;
      for (int v = 0; v < pool.horizontal.size; ++v) {
        const int column = pool.horizontal.source(place.pixel % output.width, v);
        if (column < 0 || column >= pool.input.width) continue;
        const int pixel = line * pool.input.width + column;
        const T stored = x[pool.input.at(place.image, place.channel, pixel)];
        const float value = widen(stored);
        if (from != kNone && !(value > widen(best)) && value == value) continue;
        best = stored;
        from = pixel;
      }
    }
    y[i] = best;
    chosen[i] = from;
  }
}

// An item is a value of the input.
template <typename T>
__global__ void max_pool_backward_kernel(MaxPoolGradient<T> gradient, T* dx) {
  for (std::size_t at = first_item(); at < gradient.pool.input.size(); at += item_step()) {
    dx[at] = narrow<T>(gradient(at));
  }
}

}  // namespace

template <typename T>
void max_pool_forward(Stream stream, const MaxPool& pool, const T* x, T* y, std::int32_t* chosen) {
  const std::size_t count = pool.output().size();
  if (count == 0) return;
  launch("max_pool_forward", max_pool_forward_kernel<T>, stream, shape_for(count), pool, x, y,
         chosen);
}

template <typename T>
void max_pool_backward(Stream stream, const MaxPool& pool, const T* dy, const std::int32_t* chosen,
                       T* dx) {
  const std::size_t count = pool.input.size();
  if (count == 0) return;
  launch("max_pool_backward", max_pool_backward_kernel<T>, stream, shape_for(count),
         MaxPoolGradient<T>{pool, dy, chosen}, dx);
}

#define TRAINSCOPE_INSTANTIATE(T)                                                      \
  template void max_pool_forward(Stream, const MaxPool&, const T*, T*, std::int32_t*); \
  template void max_pool_backward(Stream, const MaxPool&, const T*, const std::int32_t*, T*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
