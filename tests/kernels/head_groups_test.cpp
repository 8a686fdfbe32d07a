#include "kernels/head_groups.h"

#include "host/head_groups.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

template <typename T>
void check(const kernels::HeadGroups& shape, Stream stream) {
  const host::HeadGroups on_host{shape.tokens, shape.key_heads, shape.each, shape.width};
  const auto shared = rounded<T>(numbers(shape.shared(), 1));
  std::vector<float> expected(shape.all());
  host::repeat_heads(on_host, floats(shared), expected);
  std::vector<T> all(shape.all());
  kernels::repeat_heads(stream, shape, shared.data(), all.data());
  CHECK(same_bits(all, rounded<T>(expected)));

  all = rounded<T>(numbers(shape.all(), 2));
  expected.resize(shape.shared());
  host::sum_heads(on_host, floats(all), expected);
  std::vector<T> sums(shape.shared());
  kernels::sum_heads(stream, shape, all.data(), sums.data());
  check_near(sums, expected, 4);
}

}  // namespace

TEST_CASE("heads that others share are repeated and summed as the host does") {
  for (const Stream stream : kOrders)
    for (const kernels::HeadGroups& shape :
         {kernels::HeadGroups{1, 1, 1, 1}, {5, 2, 4, 8}, {7, 3, 2, 5}, {40, 1, 8, 64}}) {
      check<float>(shape, stream);
      check<Half>(shape, stream);
      check<Bfloat16>(shape, stream);
    }
}
