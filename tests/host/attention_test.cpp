// Causal attention, plain and tiled.
#include "host/attention.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "host/contiguous_attention.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/tiled_attention.h"

using namespace trainscope::host;

namespace {

struct Run {
  std::vector<float> o, dq, dk, dv;
};

Run plain(const AttentionShape& shape, const AttentionInputs& inputs, Values d_output) {
  const std::vector<float> like(inputs.q.size(), 5.0F);
  Run out{std::vector<float>(d_output.size(), 5.0F), like, like, like};
  std::vector<float> probabilities(shape.probabilities());
  std::vector<float> room(shape.length * shape.length);
  attention_forward(shape, inputs, out.o, probabilities);
  attention_backward(shape, inputs, probabilities, d_output, {out.dq, out.dk, out.dv}, room);
  return out;
}

Run tiled(const AttentionShape& shape, const AttentionTiles& tiles, const AttentionInputs& inputs,
          Values d_output) {
  const std::vector<float> like(inputs.q.size(), 5.0F);
  Run out{std::vector<float>(d_output.size(), 5.0F), like, like, like};
  std::vector<float> lse(shape.batch * shape.heads * shape.length);
  std::vector<float> room(tiled_attention_workspace(shape, tiles));
  tiled_attention_forward(shape, tiles, inputs, out.o, lse, room);
  tiled_attention_backward(shape, tiles, inputs, out.o, lse, d_output, {out.dq, out.dk, out.dv},
                           room);
  return out;
}

void check(const GoldenCase& golden, const std::string& way, const Run& out, double bound) {
  golden.check("o" + way, out.o, bound);
  golden.check("dq" + way, out.dq, bound);
  golden.check("dk" + way, out.dk, bound);
  golden.check("dv" + way, out.dv, bound);
}

}  // namespace

// PyTorch is up to 7 units from FP64 in the plain way, 15 in the tiled one: the last place of a
// row's lse goes into all of its probabilities.
TEST_CASE("causal attention is PyTorch's, forward and backward, plain and tiled") {
  for (const GoldenCase& golden : golden_cases("attention")) {
    const AttentionShape shape =
        contiguous_attention(golden.count("batch"), golden.count("heads"), golden.count("length"),
                             golden.count("width"));
    const AttentionInputs inputs{golden["q"], golden["k"], golden["v"]};
    check(golden, "", plain(shape, inputs, golden["do"]), 10);
    for (const AttentionTiles& tiles : {AttentionTiles{}, {8, 4}, {3, 5}, {1, 1}}) {
      check(golden, "_tiled", tiled(shape, tiles, inputs, golden["do"]), 16);
    }
  }
}

// The last place of a score s is |s| · 2^-24 of its exponential, so the bound grows with the
// scores: they are at most about 5 where queries and keys are of order 1, and 40 where they are of
// order 3.
TEST_CASE("tiled attention equals the plain one within a bound, at any tile") {
  const auto check_scale = [](double scale, double bound) {
    const AttentionShape shape = contiguous_attention(2, 3, 50, 8);
    const std::size_t size = 2 * 3 * 50 * 8;
    const std::vector<float> q = normal_values(size, 91, scale);
    const std::vector<float> k = normal_values(size, 92, scale);
    const std::vector<float> v = normal_values(size, 93);
    const std::vector<float> d_output = normal_values(size, 94);
    const Run whole = plain(shape, {q, k, v}, d_output);
    for (const AttentionTiles& tiles : {AttentionTiles{16, 16}, {7, 20}, {50, 3}, {64, 64}}) {
      const Run parts = tiled(shape, tiles, {q, k, v}, d_output);
      CHECK(worst_distance(parts.o, whole.o) <= bound);
      CHECK(worst_distance(parts.dq, whole.dq) <= bound);
      CHECK(worst_distance(parts.dk, whole.dk) <= bound);
      CHECK(worst_distance(parts.dv, whole.dv) <= bound);
    }
  };
  check_scale(1, 20);
  check_scale(3, 160);
}

TEST_CASE("the gradients of attention are its slopes") {
  const AttentionShape shape = contiguous_attention(1, 2, 6, 4);
  std::vector<float> q = normal_values(48, 95);
  std::vector<float> k = normal_values(48, 96);
  std::vector<float> v = normal_values(48, 97);
  const std::vector<float> d_output = normal_values(48, 98);
  const AttentionInputs inputs{q, k, v};
  const Run out = plain(shape, inputs, d_output);
  const auto loss = [&] { return dot(plain(shape, inputs, d_output).o, d_output); };
  check_gradient(q, loss, out.dq);
  check_gradient(k, loss, out.dk);
  check_gradient(v, loss, out.dv);
}

TEST_CASE("the gradients of tiled attention are its slopes, at any tile") {
  const AttentionShape shape = contiguous_attention(1, 2, 6, 4);
  std::vector<float> q = normal_values(48, 105);
  std::vector<float> k = normal_values(48, 106);
  std::vector<float> v = normal_values(48, 107);
  const std::vector<float> d_output = normal_values(48, 108);
  const AttentionInputs inputs{q, k, v};
  for (const AttentionTiles& tiles : {AttentionTiles{4, 4}, {2, 3}, {8, 1}}) {
    const Run out = tiled(shape, tiles, inputs, d_output);
    const auto loss = [&] { return dot(tiled(shape, tiles, inputs, d_output).o, d_output); };
    check_gradient(q, loss, out.dq);
    check_gradient(k, loss, out.dk);
    check_gradient(v, loss, out.dv);
  }
}

TEST_CASE("attention reads heads out of one packed projection") {
  const std::size_t length = 9;
  const std::size_t heads = 2;
  const std::size_t width = 4;
  const std::size_t row = 3 * heads * width;
  const std::vector<float> packed = normal_values(length * row, 101);
  const std::vector<float> d_output = normal_values(length * heads * width, 102);
  AttentionShape shape = contiguous_attention(1, heads, length, width);
  std::vector<std::vector<float>> apart(4, std::vector<float>(heads * length * width));
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < length * width; ++i) {
      const std::size_t token = i / width;
      const std::size_t to = h * length * width + i;
      const std::size_t w = h * width + i % width;
      for (std::size_t part = 0; part < 3; ++part) {
        apart[part][to] = packed[token * row + part * heads * width + w];
      }
      apart[3][to] = d_output[token * heads * width + w];
    }
  }
  const Run expected = plain(shape, {apart[0], apart[1], apart[2]}, apart[3]);

  shape.inputs = {length * row, width, row};
  shape.outputs = {length * heads * width, width, heads * width};
  const Values all = packed;
  const AttentionInputs inputs{all, all.subspan(heads * width), all.subspan(2 * heads * width)};
  for (const bool in_tiles : {false, true}) {
    std::vector<float> o(d_output.size());
    std::vector<float> gradients(packed.size());
    const Results d = gradients;
    const AttentionGradients into{d, d.subspan(heads * width), d.subspan(2 * heads * width)};
    const AttentionTiles tiles{4, 4};
    std::vector<float> room(std::max(length * length, tiled_attention_workspace(shape, tiles)));
    std::vector<float> kept(in_tiles ? heads * length : shape.probabilities());
    if (in_tiles) {
      tiled_attention_forward(shape, tiles, inputs, o, kept, room);
      tiled_attention_backward(shape, tiles, inputs, o, kept, d_output, into, room);
    } else {
      attention_forward(shape, inputs, o, kept);
      attention_backward(shape, inputs, kept, d_output, into, room);
    }
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < length * width; ++i) {
        const std::size_t from = h * length * width + i;
        const std::size_t token = i / width;
        const std::size_t w = h * width + i % width;
        REQUIRE(o[token * heads * width + w] == Approx(expected.o[from]).margin(1e-5));
        REQUIRE(d[token * row + w] == Approx(expected.dq[from]).margin(1e-5));
        REQUIRE(into.dk[token * row + w] == Approx(expected.dk[from]).margin(1e-5));
        REQUIRE(into.dv[token * row + w] == Approx(expected.dv[from]).margin(1e-5));
      }
    }
  }
}
