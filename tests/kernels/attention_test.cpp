#include "kernels/attention.h"

#include "host/attention.h"
#include "kernels/compare.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

std::size_t wide(int value) {
  return static_cast<std::size_t>(value);
}

struct Sizes {
  int batch;
  int heads;
  int length;
  int width;
};

// As a projection before it writes them: [batch, length, 3, heads, width], outputs [batch, length,
// heads, width].
kernels::Attention interleaved(const Sizes& sizes) {
  const std::size_t row = wide(sizes.heads) * wide(sizes.width);
  const std::size_t width = wide(sizes.width);
  return {sizes.batch,
          sizes.heads,
          sizes.length,
          sizes.width,
          {3 * row * wide(sizes.length), width, 3 * row},
          {row * wide(sizes.length), width, row}};
}

// What both ways give, and the host.
struct Results {
  std::vector<float> o;
  std::vector<float> gradient;  // of q, k and v where they stand
};

struct Case {
  explicit Case(const Sizes& sizes)
      : shape(interleaved(sizes)),
        row(wide(sizes.heads) * wide(sizes.width)),
        outputs(wide(sizes.batch) * shape.outputs.batch) {}

  template <typename T>
  kernels::AttentionInputs<T> inputs(const std::vector<T>& qkv) const {
    return {qkv.data(), qkv.data() + row, qkv.data() + 2 * row};
  }
  template <typename T>
  kernels::AttentionGradients<T> gradients(std::vector<T>& d) const {
    return {d.data(), d.data() + row, d.data() + 2 * row};
  }

  kernels::Attention shape;
  std::size_t row;
  std::size_t outputs;
};

Results on_host(const Case& c, const std::vector<float>& qkv, const std::vector<float>& d_output) {
  const kernels::Attention& s = c.shape;
  const host::AttentionShape shape{wide(s.batch),
                                   wide(s.heads),
                                   wide(s.length),
                                   wide(s.width),
                                   {s.inputs.batch, s.inputs.head, s.inputs.token},
                                   {s.outputs.batch, s.outputs.head, s.outputs.token}};
  const host::Values all = qkv;
  const host::AttentionInputs inputs{all, all.subspan(c.row), all.subspan(2 * c.row)};
  Results results{std::vector<float>(c.outputs), std::vector<float>(qkv.size())};
  std::vector<float> probabilities(shape.probabilities());
  host::attention_forward(shape, inputs, results.o, probabilities);
  const host::Results d = results.gradient;
  std::vector<float> workspace(host::attention_workspace(shape));
  host::attention_backward(shape, inputs, probabilities, d_output,
                           {d, d.subspan(c.row), d.subspan(2 * c.row)}, workspace);
  return results;
}

// A thread adds the terms of a product one after another in FP32, where the host's BLAS keeps
// several running sums: 14 units were measured, in tiles 15.
constexpr double kPlainUnits = 20;
constexpr double kTiledUnits = 24;
// Tiled backward reads o as forward stored it: its rounding enters rowsum(do o), and with that
// every gradient of the row. 1.8 roundings of the type were measured beside the result's own.
template <typename T>
constexpr double kStoredUnits = sizeof(T) < sizeof(float) ? 2 * kRounding<T> / 0x1p-23 : 0;

template <typename T>
void check(const Sizes& sizes, Stream stream) {
  const Case c(sizes);
  const auto qkv = rounded<T>(numbers(3 * c.outputs, 81));
  const auto d_output = rounded<T>(numbers(c.outputs, 82));
  const Results host = on_host(c, floats(qkv), floats(d_output));
  std::vector<T> o(c.outputs);
  std::vector<T> d(qkv.size());

  std::vector<float> probabilities(c.shape.probabilities());
  std::vector<float> workspace(c.shape.probabilities());
  kernels::attention_forward(stream, c.shape, c.inputs(qkv), probabilities.data(), o.data());
  check_near(o, host.o, kPlainUnits);
  kernels::attention_backward(stream, c.shape, c.inputs(qkv), probabilities.data(), d_output.data(),
                              workspace.data(), c.gradients(d));
  check_near(d, host.gradient, kPlainUnits);

  // What the plain way left must not be read.
  std::fill(o.begin(), o.end(), as<T>(NAN));
  std::fill(d.begin(), d.end(), as<T>(NAN));
  std::vector<float> lse(c.shape.rows());
  kernels::tiled_attention_forward(stream, c.shape, c.inputs(qkv), o.data(), lse.data());
  check_near(o, host.o, kTiledUnits);
  workspace.assign(c.shape.rows(), NAN);
  kernels::tiled_attention_backward(stream, c.shape, c.inputs(qkv), o.data(), lse.data(),
                                    d_output.data(), workspace.data(), c.gradients(d));
  check_near(d, host.gradient, kTiledUnits + kStoredUnits<T>);
}

}  // namespace

TEST_CASE("attention, plain and tiled, is the host's, forward and backward") {
  check<float>({1, 1, 1, 1}, Stream{});
  check<float>({1, 2, 7, 5}, Stream{1});
  check<float>({2, 3, 33, 16}, Stream{2});
  check<float>({1, 1, 70, 40}, Stream{});
  check<float>({1, 1, 32, 64}, Stream{});
  check<float>({1, 2, 19, 128}, Stream{1});
}

TEST_CASE("attention in FP16 and BF16 is the host's but for a rounding") {
  check<Half>({1, 2, 33, 8}, Stream{});
  check<Bfloat16>({1, 2, 33, 8}, Stream{1});
}

TEST_CASE("large scores do not overflow") {
  const Case c({1, 1, 9, 4});
  std::vector<float> qkv = numbers(3 * c.outputs, 83, 100);
  std::vector<float> o(c.outputs);
  std::vector<float> lse(c.shape.rows());
  kernels::tiled_attention_forward(Stream{}, c.shape, c.inputs(qkv), o.data(), lse.data());
  const Results host = on_host(c, qkv, std::vector<float>(c.outputs));
  check_near(o, host.o, kTiledUnits);
}

TEST_CASE("a head too wide for a tile is refused") {
  const Case c({1, 1, 1, 129});
  const std::vector<float> qkv(3 * c.outputs);
  std::vector<float> o(c.outputs);
  float lse = 0;
  CHECK_THROWS_WITH(
      kernels::tiled_attention_forward(Stream{}, c.shape, c.inputs(qkv), o.data(), &lse),
      "tiled attention takes heads of at most 128 values, not 129: use the plain one");
}
