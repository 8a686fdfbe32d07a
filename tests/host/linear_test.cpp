#include "host/linear.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "host/bias.h"
#include "host/cast.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/with_precision.h"

using namespace trainscope::host;

namespace {

struct Run {
  std::vector<float> y, dx, dw, db;
};

Run run(const LinearShape& shape, Values x, Values w, Values b, Values dy) {
  // What was there must not matter.
  const float old = std::numeric_limits<float>::quiet_NaN();
  Run out{std::vector<float>(shape.rows * shape.outputs, old), std::vector<float>(x.size(), old),
          std::vector<float>(w.size(), old), std::vector<float>(b.size(), old)};
  linear_forward(shape, x, w, b, out.y);
  linear_backward(shape, x, w, dy, {out.dx, out.dw, out.db}, Into::kReplace);
  return out;
}

}  // namespace

// A product of 200 terms differs by its order of summation, which is another one for each
// processor: PyTorch itself is 10 units from FP64 in y of "wide", 5 in its gradients.
TEST_CASE("linear is PyTorch's, forward and backward") {
  for (const char* name : {"wide", "one", "square"}) {
    const GoldenCase golden = golden_case("linear", name);
    const std::size_t outputs = golden["b"].size();
    const std::size_t inputs = golden["w"].size() / outputs;
    const LinearShape shape{golden["x"].size() / inputs, inputs, outputs};
    const Run out = run(shape, golden["x"], golden["w"], golden["b"], golden["dy"]);
    golden.check("y", out.y, inputs > 100 ? 16 : 6);
    golden.check("dx", out.dx, 8);
    golden.check("dw", out.dw, 4);
    golden.check("db", out.db, 4);
  }
}

TEST_CASE("rows that lie apart give what they give one behind the other") {
  constexpr std::size_t kRows = 5, kInputs = 7, kOutputs = 3, kStride = 4 * kInputs;
  const std::vector<float> all = normal_values(kRows * kStride, 31);
  const std::vector<float> w = normal_values(kOutputs * kInputs, 32),
                           b = normal_values(kOutputs, 33);
  const std::vector<float> dy = normal_values(kRows * kOutputs, 34);
  for (std::size_t step = 0; step < 4; ++step) {
    std::vector<float> packed;
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(row * kStride + step * kInputs);
      packed.insert(packed.end(), from, from + kInputs);
    }
    const Run expected = run({kRows, kInputs, kOutputs}, packed, w, b, dy);
    const LinearShape apart{kRows, kInputs, kOutputs, kStride};
    const Values x = Values(all).subspan(step * kInputs);
    std::vector<float> y(kRows * kOutputs), dw(w.size());
    linear_forward(apart, x, w, b, y);
    linear_backward(apart, x, w, dy, {{}, dw, {}}, Into::kReplace);
    CHECK(y == expected.y);
    CHECK(dw == expected.dw);
  }
}

// One unit in the last place of FP16 is 2^13 of FP32's, of BF16 2^16: the output is rounded once,
// so sums in another order may end on the neighbouring value.
TEST_CASE("linear with rounded inputs and output is PyTorch's in FP16 and BF16") {
  const auto check = [](const char* name, const Precision& precision, double bound) {
    const GoldenCase golden = golden_case("linear", name);
    const std::size_t outputs = golden["b"].size();
    const std::size_t inputs = golden["w"].size() / outputs;
    const LinearShape shape{golden["x"].size() / inputs, inputs, outputs};
    std::vector<float> y(golden["y"].size());
    std::vector<float> room(golden["x"].size() + golden["w"].size() + outputs);
    with_precision(precision, std::array<Values, 3>{golden["x"], golden["w"], golden["b"]},
                   std::array<Results, 1>{y}, room,
                   [&](const auto& in) { linear_forward(shape, in[0], in[1], in[2], y); });
    golden.check("y", y, bound);
  };
  check("fp16", kFp16, 8192);
  check("bf16", kBf16, 65536);
}

TEST_CASE("linear's gradients are its slopes") {
  const LinearShape shape{4, 6, 5};
  std::vector<float> x = normal_values(24, 1);
  std::vector<float> w = normal_values(30, 2);
  std::vector<float> b = normal_values(5, 3);
  const std::vector<float> dy = normal_values(20, 4);
  const Run out = run(shape, x, w, b, dy);
  const auto loss = [&] {
    std::vector<float> y(20);
    linear_forward(shape, x, w, b, y);
    return dot(y, dy);
  };
  check_gradient(x, loss, out.dx);
  check_gradient(w, loss, out.dw);
  check_gradient(b, loss, out.db);
}

TEST_CASE("each gradient of a linear layer can be computed alone") {
  const LinearShape shape{33, 70, 50};
  const std::vector<float> x = normal_values(33 * 70, 6);
  const std::vector<float> w = normal_values(50 * 70, 7);
  const std::vector<float> dy = normal_values(33 * 50, 8);
  const Run whole = run(shape, x, w, std::vector<float>(50), dy);
  std::vector<float> dx(x.size());
  std::vector<float> dw(w.size());
  std::vector<float> db(50);
  linear_backward(shape, {}, w, dy, {dx, {}, {}}, Into::kReplace);
  linear_backward(shape, x, {}, dy, {{}, dw, {}}, Into::kReplace);
  linear_backward(shape, {}, {}, dy, {{}, {}, db}, Into::kReplace);
  CHECK(dx == whole.dx);
  CHECK(dw == whole.dw);
  CHECK(db == whole.db);
}

TEST_CASE("gradients are added to those that are there when asked for") {
  const LinearShape shape{4, 6, 5};
  const std::vector<float> x = normal_values(24, 1);
  const std::vector<float> w = normal_values(30, 2);
  const std::vector<float> dy = normal_values(20, 4);
  std::vector<float> dw(30);
  std::vector<float> db(5);
  linear_backward(shape, x, w, dy, {{}, dw, db}, Into::kReplace);
  const std::vector<float> once = dw;
  const std::vector<float> bias_once = db;
  linear_backward(shape, x, w, dy, {{}, dw, db}, Into::kAdd);
  for (std::size_t i = 0; i < dw.size(); ++i) CHECK(dw[i] == Approx(2 * once[i]).epsilon(1e-5));
  for (std::size_t i = 0; i < db.size(); ++i)
    CHECK(db[i] == Approx(2 * bias_once[i]).epsilon(1e-5));
}

TEST_CASE("a linear layer may have no bias, no rows and no inputs") {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> w = {1, 0, 0, 1, 1, 1};
  std::vector<float> y(6, 7.0F);
  linear_forward({2, 2, 3}, x, w, {}, y);
  CHECK(y == std::vector<float>{1, 2, 3, 3, 4, 7});
  linear_forward({0, 2, 3}, {}, w, {}, {});
  linear_forward({2, 0, 3}, {}, {}, {}, y);
  CHECK(y == std::vector<float>(6, 0.0F));
}

TEST_CASE("the gradient of a bias sums the rows that it was added to, wide or narrow") {
  const MatrixShape shape{3, 300};
  std::vector<float> db(300, 1.0F);
  bias_backward(shape, std::vector<float>(shape.size(), 2.0F), db, Into::kAdd);
  CHECK(db == std::vector<float>(300, 7.0F));
}
