#include "host/cast.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "host/float_types.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/with_precision.h"

using namespace trainscope::host;

TEST_CASE("casts to FP16 and BF16 are PyTorch's, exactly") {
  for (const auto& [name, format] :
       {std::pair{"fp16", NumberFormat::kFloat16}, {"bf16", NumberFormat::kBfloat16}}) {
    const GoldenCase golden = golden_case("cast", name);
    std::vector<float> y(golden["x"].size());
    cast(format, golden["x"], y);
    golden.check("y", y, 0);
    std::size_t different = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] != golden["y"][i] && !(y[i] != y[i] && golden["y"][i] != golden["y"][i]))
        ++different;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("a cast in place rounds every value, over many blocks") {
  const std::vector<float> x = normal_values(1500, 51);
  std::vector<float> y = x;
  cast(NumberFormat::kTf32, Results(y));
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == round_to_tf32(x[i]));
  cast(NumberFormat::kFloat16, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == to_float(to_float16(x[i])));
  cast(NumberFormat::kFloat32, x, y);
  CHECK(y == x);
}

TEST_CASE("what a cast would lose is counted") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0, 1, 1e-8F, -1e-8F, 1e-6F, 7e4F, -7e4F, infinity, 1e-40F};
  const CastLosses fp16 = cast_losses(NumberFormat::kFloat16, values);
  CHECK(fp16.to_zero == 3);
  CHECK(fp16.to_subnormal == 1);
  CHECK(fp16.to_infinity == 2);
  const CastLosses bf16 = cast_losses(NumberFormat::kBfloat16, values);
  CHECK(bf16.to_zero == 0);
  CHECK(bf16.to_subnormal == 1);
  CHECK(bf16.to_infinity == 0);
}

TEST_CASE("an operation in a precision sees rounded inputs and its output is rounded") {
  const std::vector<float> a = {1.0F + 0x1p-12F};
  const std::vector<float> b = {1.0F + 0x1p-7F};
  std::vector<float> y(1);
  std::vector<float> room(2);
  const auto product = [&](const auto& in) { y[0] = in[0][0] * in[1][0] * in[1][0]; };
  const auto run = [&](const Precision& precision) {
    with_precision(precision, std::array<Values, 2>{a, b}, std::array<Results, 1>{y}, room,
                   product);
    return y[0];
  };
  const float exact = b[0] * b[0];  // 1 + 2^-6 + 2^-14
  CHECK(run(kFp32) == a[0] * b[0] * b[0]);
  CHECK(run(kTf32) == exact);  // a loses its last bit, the output none
  CHECK(run(kFp16) == 1.0F + 0x1p-6F);
  CHECK(run(kBf16) == 1.0F + 0x1p-6F);
}
