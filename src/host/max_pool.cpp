#include "host/max_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace trainscope::host {
namespace {

void require_fit(const MaxPool& pool) {
  for (const Window& window : {pool.vertical, pool.horizontal}) {
    if (2 * window.padding <= window.size) continue;
    throw InputError(fmt::format("a pooling window of {} can be padded by at most {}, not {}",
                                 window.size, window.size / 2, window.padding));
  }
  if (pool.output().pixels() == 0) {
    throw InputError(fmt::format("a pooling window of {}x{} does not fit an image of {}x{}",
                                 pool.vertical.extent(), pool.horizontal.extent(),
                                 pool.input.height, pool.input.width));
  }
}

struct Choice {
  float value;
  std::size_t pixel;
};

Choice choose(const MaxPool& pool, const float* plane, std::size_t i, std::size_t j) {
  Choice best{-std::numeric_limits<float>::infinity(), 0};
  bool none = true;
  for (std::size_t u = 0; u < pool.vertical.size; ++u) {
    const std::size_t y = pool.vertical.source(i, u);
    if (y >= pool.input.height) continue;
    for (std::size_t v = 0; v < pool.horizontal.size; ++v) {
      const std::size_t x = pool.horizontal.source(j, v);
      if (x >= pool.input.width) continue;
      const std::size_t pixel = y * pool.input.width + x;
      const float value = plane[pixel * pool.input.pixel_stride()];
      if (none || value > best.value || std::isnan(value)) best = {value, pixel};
      none = false;
    }
  }
  return best;
}

// Calls body(input plane's offset, output value's offset, i, j) for every value of the output.
template <typename Body>
void for_each_output(const MaxPool& pool, const Body& body) {
  const ImageShape& in = pool.input;
  const ImageShape out = pool.output();
  for (std::size_t n = 0; n < in.batch; ++n) {
    for (std::size_t c = 0; c < in.channels; ++c) {
      const std::size_t plane = n * in.image_size() + c * in.channel_stride();
      const std::size_t first = n * out.image_size() + c * out.channel_stride();
      for (std::size_t i = 0; i < out.height; ++i) {
        for (std::size_t j = 0; j < out.width; ++j) {
          body(plane, first + (i * out.width + j) * out.pixel_stride(), i, j);
        }
      }
    }
  }
}

}  // namespace

ImageShape MaxPool::output() const {
  return {input.batch, input.channels, vertical.places(input.height),
          horizontal.places(input.width), input.layout};
}

void max_pool_forward(const MaxPool& pool, Values x, Results y, std::span<std::int32_t> chosen) {
  require_fit(pool);
  assert(x.size() == pool.input.size() && y.size() == pool.output().size());
  assert(chosen.size() == y.size());
  for_each_output(pool, [&](std::size_t plane, std::size_t out, std::size_t i, std::size_t j) {
    const Choice best = choose(pool, &x[plane], i, j);
    y[out] = best.value;
    chosen[out] = static_cast<std::int32_t>(best.pixel);
  });
}

void max_pool_backward(const MaxPool& pool, Values dy, std::span<const std::int32_t> chosen,
                       Results dx) {
  require_fit(pool);
  assert(dx.size() == pool.input.size() && dy.size() == pool.output().size());
  assert(chosen.size() == dy.size());
  std::fill(dx.begin(), dx.end(), 0.0F);
  for_each_output(pool, [&](std::size_t plane, std::size_t out, std::size_t, std::size_t) {
    const auto pixel = static_cast<std::size_t>(chosen[out]);
    dx[plane + pixel * pool.input.pixel_stride()] += dy[out];
  });
}

}  // namespace trainscope::host
