#include "host/rotate.h"

#include <cassert>
#include <cmath>

namespace trainscope::host {

void rotate(const Rotation& shape, Values frequencies, Values x, Results y,
            const Workers& workers) {
  const std::size_t half = shape.width / 2, token = shape.heads * shape.width;
  assert(shape.width % 2 == 0 && frequencies.size() == half);
  assert(x.size() == shape.batch * shape.length * token && y.size() == x.size());
  const float sign = shape.back ? -1 : 1;
  workers.for_ranges(
      shape.batch * shape.length, grain_of(token), [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; ++at)
          for (std::size_t i = 0; i < half; ++i) {
            const float angle = static_cast<float>(at % shape.length) * frequencies[i];
            const float cosine = std::cos(angle), sine = sign * std::sin(angle);
            for (std::size_t head = 0; head < shape.heads; ++head) {
              const std::size_t first = at * token + head * shape.width + i, second = first + half;
              y[first] = x[first] * cosine - x[second] * sine;
              y[second] = x[second] * cosine + x[first] * sine;
            }
          }
      });
}

}  // namespace trainscope::host
