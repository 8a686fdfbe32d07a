#include "host/head_groups.h"

#include <algorithm>
#include <cassert>

namespace trainscope::host {

void repeat_heads(const HeadGroups& shape, Values x, Results y, const Workers& workers) {
  assert(x.size() == shape.shared() && y.size() == shape.all());
  workers.for_ranges(shape.tokens * shape.key_heads, grain_of(shape.each * shape.width),
                     [&](std::size_t begin, std::size_t end) {
                       for (std::size_t head = begin; head < end; ++head)
                         for (std::size_t i = 0; i < shape.each; ++i)
                           std::copy_n(&x[head * shape.width], shape.width,
                                       &y[(head * shape.each + i) * shape.width]);
                     });
}

void sum_heads(const HeadGroups& shape, Values x, Results y, const Workers& workers) {
  assert(x.size() == shape.all() && y.size() == shape.shared());
  workers.for_ranges(shape.tokens * shape.key_heads, grain_of(shape.each * shape.width),
                     [&](std::size_t begin, std::size_t end) {
                       for (std::size_t head = begin; head < end; ++head)
                         for (std::size_t w = 0; w < shape.width; ++w) {
                           double sum = 0;
                           for (std::size_t i = 0; i < shape.each; ++i)
                             sum += x[(head * shape.each + i) * shape.width + w];
                           y[head * shape.width + w] = static_cast<float>(sum);
                         }
                     });
}

}  // namespace trainscope::host
