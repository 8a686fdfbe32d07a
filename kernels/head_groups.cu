#include "kernels/head_groups.h"

#include "kernels/copy_runs.h"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// A thread has a value of the sum.
template <typename T>
__global__ void sum_heads_kernel(Divisor width, std::size_t each, std::size_t count, const T* x,
                                 T* y) {
  for (std::size_t i = first_item(); i < count; i += item_step()) {
    const auto place = width.split(i);
    const T* values = x + static_cast<std::size_t>(place.quotient) * each * width.by() + place.rest;
    float sum = 0;
    for (std::size_t head = 0; head < each; ++head) sum += widen(values[head * width.by()]);
    y[i] = narrow<T>(sum);
  }
}

}  // namespace

template <typename T>
void repeat_heads(Stream stream, const HeadGroups& shape, const T* x, T* y) {
  Runs runs;
  runs.run = shape.width;
  runs.outer = shape.tokens * shape.key_heads;
  runs.inner = shape.each;
  runs.inner_step = 0;
  copy_runs(stream, runs, x, y);
}

template <typename T>
void sum_heads(Stream stream, const HeadGroups& shape, const T* x, T* y) {
  if (shape.shared() == 0) return;
  launch("sum_heads", sum_heads_kernel<T>, stream, shape_for(shape.shared()), Divisor(shape.width),
         shape.each, shape.shared(), x, y);
}

#define TRAINSCOPE_INSTANTIATE(T)                                      \
  template void repeat_heads(Stream, const HeadGroups&, const T*, T*); \
  template void sum_heads(Stream, const HeadGroups&, const T*, T*)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
