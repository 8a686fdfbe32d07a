#include "host/average_pool.h"

#include <cassert>

#include "host/column_sums.h"
#include "host/sums.h"

namespace trainscope::host {

void average_pool_forward(const ImageShape& shape, Values x, Results y, const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.batch * shape.channels);
  const double pixels = static_cast<double>(shape.pixels());
  const bool last = shape.layout == ImageLayout::kChannelsLast;
  workers.for_ranges(
      shape.batch, grain_of(shape.image_size()), [&](std::size_t begin, std::size_t end) {
        for (std::size_t n = begin; n < end; ++n) {
          const float* image = &x[n * shape.image_size()];
          float* means = &y[n * shape.channels];
          if (last) {
            column_totals(
                {shape.pixels(), shape.channels},
                [&](std::size_t p, std::size_t c) {
                  return static_cast<double>(image[p * shape.channels + c]);
                },
                [&](std::size_t c, double total) {
                  means[c] = static_cast<float>(total / pixels);
                });
            continue;
          }
          for (std::size_t c = 0; c < shape.channels; ++c) {
            const float* plane = image + c * shape.pixels();
            const double total = sum_of(shape.pixels(), [=](std::size_t p) { return plane[p]; });
            means[c] = static_cast<float>(total / pixels);
          }
        }
      });
}

void average_pool_backward(const ImageShape& shape, Values dy, Results dx, const Workers& workers) {
  assert(dx.size() == shape.size() && dy.size() == shape.batch * shape.channels);
  const auto pixels = static_cast<float>(shape.pixels());
  workers.for_ranges(shape.batch, grain_of(shape.image_size()),
                     [&](std::size_t begin, std::size_t end) {
                       for (std::size_t n = begin; n < end; ++n) {
                         for (std::size_t c = 0; c < shape.channels; ++c) {
                           const float share = dy[n * shape.channels + c] / pixels;
                           float* out = &dx[n * shape.image_size() + c * shape.channel_stride()];
                           for (std::size_t p = 0; p < shape.pixels(); ++p)
                             out[p * shape.pixel_stride()] = share;
                         }
                       }
                     });
}

}  // namespace trainscope::host
