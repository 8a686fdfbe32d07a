#include "host/max_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

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

// One row of the output, and what is innermost in it: places of the window in channels-first
// memory, channels in channels-last.
struct Row {
  const float* image;  // where the plane, or the image, begins
  float* y;
  std::int32_t* chosen;
};

constexpr std::int32_t kNone = -1;

// A run of `count` outputs side by side, and the inputs that they look at next, which lie some
// step apart.
struct Run {
  const float* from;
  std::size_t count;
  std::int32_t pixel;  // of the first
};

// Each output takes the value where it is the first, larger, or a NaN. Without branches, so that
// it is vectorised.
inline void take(const Run& run, std::size_t step, std::int32_t pixel_step, float* __restrict y,
                 std::int32_t* __restrict chosen) {
  for (std::size_t j = 0; j < run.count; ++j) {
    const float value = run.from[j * step];
    const float best = y[j];
    const std::int32_t place = chosen[j];
    const bool better = static_cast<int>(place == kNone) | static_cast<int>(value > best) |
                        static_cast<int>(value != value);
    y[j] = better ? value : best;
    chosen[j] = better ? run.pixel + static_cast<std::int32_t>(j) * pixel_step : place;
  }
}

// Element v of the window, in the image's row that begins at pixel `first`, at every place.
void take_places(const MaxPool& pool, const Row& row, std::size_t first, std::size_t v) {
  const auto [begin, end] = pool.horizontal.places_inside(v, pool.input.width);
  if (begin >= end) return;
  const std::size_t step = pool.horizontal.stride;
  const std::size_t pixel = first + pool.horizontal.source(begin, v);
  const Run run{row.image + pixel, end - begin, static_cast<std::int32_t>(pixel)};
  float* y = row.y + begin;
  std::int32_t* chosen = row.chosen + begin;
  // Steps that the compiler knows.
  if (step == 1) return take(run, 1, 1, y, chosen);
  if (step == 2) return take(run, 2, 2, y, chosen);
  take(run, step, static_cast<std::int32_t>(step), y, chosen);
}

void take_channels(const MaxPool& pool, const Row& row, std::size_t first, std::size_t v) {
  const auto [begin, end] = pool.horizontal.places_inside(v, pool.input.width);
  const std::size_t channels = pool.input.channels;
  for (std::size_t j = begin; j < end; ++j) {
    const std::size_t pixel = first + pool.horizontal.source(j, v);
    const Run run{row.image + pixel * channels, channels, static_cast<std::int32_t>(pixel)};
    take(run, 1, 0, row.y + j * channels, row.chosen + j * channels);
  }
}

void pool_row(const MaxPool& pool, const Row& row, std::size_t i, std::size_t values) {
  std::fill_n(row.chosen, values, kNone);
  for (std::size_t u = 0; u < pool.vertical.size; ++u) {
    const std::size_t line = pool.vertical.source(i, u);
    if (line >= pool.input.height) continue;
    for (std::size_t v = 0; v < pool.horizontal.size; ++v) {
      if (pool.input.layout == ImageLayout::kChannelsFirst) {
        take_places(pool, row, line * pool.input.width, v);
      } else {
        take_channels(pool, row, line * pool.input.width, v);
      }
    }
  }
}

// What is pooled at once: one channel of an image, or an image where channels are innermost.
struct Planes {
  explicit Planes(const MaxPool& pool) : output(pool.output()) {
    const bool last = pool.input.layout == ImageLayout::kChannelsLast;
    count = pool.input.batch * (last ? 1 : pool.input.channels);
    depth = last ? pool.input.channels : 1;
    in = pool.input.pixels() * depth;
    out = output.pixels() * depth;
  }

  ImageShape output;
  std::size_t count;
  std::size_t depth;  // channels that a plane has
  std::size_t in;     // values from one to the next
  std::size_t out;
};

}  // namespace

ImageShape MaxPool::output() const {
  return {input.batch, input.channels, vertical.places(input.height),
          horizontal.places(input.width), input.layout};
}

void max_pool_forward(const MaxPool& pool, Values x, Results y, std::span<std::int32_t> chosen,
                      const Workers& workers) {
  require_fit(pool);
  const Planes planes(pool);
  assert(x.size() == pool.input.size() && y.size() == planes.output.size());
  assert(chosen.size() == y.size());
  const std::size_t width = planes.output.width * planes.depth;
  workers.for_ranges(planes.count, grain_of(planes.in), [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      for (std::size_t i = 0; i < planes.output.height; ++i) {
        const std::size_t out = plane * planes.out + i * width;
        pool_row(pool, {&x[plane * planes.in], &y[out], &chosen[out]}, i, width);
      }
    }
  });
}

void max_pool_backward(const MaxPool& pool, Values dy, std::span<const std::int32_t> chosen,
                       Results dx, const Workers& workers) {
  require_fit(pool);
  const Planes planes(pool);
  assert(dx.size() == pool.input.size() && dy.size() == planes.output.size());
  assert(chosen.size() == dy.size());
  workers.for_ranges(planes.count, grain_of(planes.in), [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      float* to = &dx[plane * planes.in];
      const std::size_t first = plane * planes.out;
      std::fill_n(to, planes.in, 0.0F);
      for (std::size_t p = 0; p < planes.output.pixels(); ++p) {
        for (std::size_t c = 0; c < planes.depth; ++c) {
          const std::size_t i = first + p * planes.depth + c;
          if (chosen[i] != kNone)
            to[static_cast<std::size_t>(chosen[i]) * planes.depth + c] += dy[i];
        }
      }
    }
  });
}

}  // namespace trainscope::host
