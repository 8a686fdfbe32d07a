#include "kernels/rotate.h"

#include "base/error.h"
#include "host/rotate.h"
#include "kernels/compare.h"
#include "program/rotary.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

template <typename T>
void check(const kernels::Rotation& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.tokens() * shape.heads * shape.width, 1));
  const std::vector<float> frequencies = program::rotary_frequencies(shape.width, 10000);
  std::vector<float> expected(x.size());
  host::rotate({shape.batch, shape.length, shape.heads, shape.width, shape.back}, frequencies,
               floats(x), expected);
  std::vector<T> y(x.size());
  kernels::rotate<T>(stream, shape, frequencies, x.data(), y.data());
  check_near(y, expected, 4);
}

}  // namespace

TEST_CASE("rotary embedding is the host's, there and back") {
  for (const Stream stream : kOrders)
    for (const bool back : {false, true})
      for (const kernels::Rotation& shape :
           {kernels::Rotation{1, 1, 1, 2, back}, {2, 7, 3, 6, back}, {1, 300, 2, 64, back}}) {
        check<float>(shape, stream);
        check<Half>(shape, stream);
        check<Bfloat16>(shape, stream);
      }
}

TEST_CASE("heads that are wider than the table of frequencies are refused") {
  const kernels::Rotation shape{1, 1, 1, 258};
  std::vector<float> x(258), y(258);
  const std::vector<float> frequencies = program::rotary_frequencies(258, 10000);
  CHECK_THROWS_AS(kernels::rotate<float>(Stream{}, shape, frequencies, x.data(), y.data()),
                  InputError);
}
