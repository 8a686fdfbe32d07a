#include "host/attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "host/blas.h"

namespace trainscope::host {
namespace {

float scale_of(const AttentionShape& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
}

// Softmax of the first `row + 1` values of each row; those above the diagonal become 0.
void causal_softmax(std::size_t length, float* scores) {
  for (std::size_t row = 0; row < length; ++row) {
    float* values = scores + row * length;
    const float maximum = *std::max_element(values, values + row + 1);
    double sum = 0;
    for (std::size_t c = 0; c <= row; ++c) {
      values[c] = std::exp(values[c] - maximum);
      sum += values[c];
    }
    const auto share = static_cast<float>(1 / sum);
    for (std::size_t c = 0; c <= row; ++c) values[c] *= share;
    std::fill(values + row + 1, values + length, 0.0F);
  }
}

// dp becomes ds; above the diagonal p is 0, so it does too.
void softmax_backward(std::size_t length, const float* p, float* dp) {
  for (std::size_t row = 0; row < length; ++row) {
    const float* share = p + row * length;
    float* d = dp + row * length;
    double sum = 0;
    for (std::size_t c = 0; c <= row; ++c) sum += static_cast<double>(share[c]) * d[c];
    const auto common = static_cast<float>(sum);
    for (std::size_t c = 0; c <= row; ++c) d[c] = share[c] * (d[c] - common);
    std::fill(d + row + 1, d + length, 0.0F);
  }
}

// Calls body(offset in the inputs, offset in the outputs, offset in the probabilities) for each
// head.
template <typename Body>
void for_each_head(const AttentionShape& shape, const Body& body) {
  for (std::size_t b = 0; b < shape.batch; ++b) {
    for (std::size_t h = 0; h < shape.heads; ++h) {
      body(b * shape.inputs.batch + h * shape.inputs.head,
           b * shape.outputs.batch + h * shape.outputs.head,
           (b * shape.heads + h) * shape.length * shape.length);
    }
  }
}

}  // namespace

AttentionShape contiguous_attention(std::size_t batch, std::size_t heads, std::size_t length,
                                    std::size_t width) {
  const HeadStrides strides{heads * length * width, length * width, width};
  return {batch, heads, length, width, strides, strides};
}

void attention_forward(const AttentionShape& shape, const AttentionInputs& inputs, Results o,
                       Results probabilities) {
  assert(probabilities.size() == shape.probabilities());
  const std::size_t length = shape.length;
  const std::size_t token = shape.inputs.token;
  for_each_head(shape, [&](std::size_t in, std::size_t out, std::size_t at) {
    float* p = &probabilities[at];
    gemm({length, length, shape.width}, {&inputs.q[in], token}, {&inputs.k[in], token, true},
         {p, length}, scale_of(shape));
    causal_softmax(length, p);
    gemm({length, shape.width, length}, {p, length}, {&inputs.v[in], token},
         {&o[out], shape.outputs.token});
  });
}

void attention_backward(const AttentionShape& shape, const AttentionInputs& inputs,
                        Values probabilities, Values d_output, const AttentionGradients& gradients,
                        Results workspace) {
  const std::size_t length = shape.length;
  assert(probabilities.size() == shape.probabilities() && workspace.size() >= length * length);
  const std::size_t token = shape.inputs.token;
  const std::size_t out_token = shape.outputs.token;
  float* ds = workspace.data();
  for_each_head(shape, [&](std::size_t in, std::size_t out, std::size_t at) {
    const float* p = &probabilities[at];
    gemm({length, shape.width, length}, {p, length, true}, {&d_output[out], out_token},
         {&gradients.dv[in], token});
    gemm({length, length, shape.width}, {&d_output[out], out_token}, {&inputs.v[in], token, true},
         {ds, length});
    softmax_backward(length, p, ds);
    gemm({length, shape.width, length}, {ds, length}, {&inputs.k[in], token},
         {&gradients.dq[in], token}, scale_of(shape));
    gemm({length, shape.width, length}, {ds, length, true}, {&inputs.q[in], token},
         {&gradients.dk[in], token}, scale_of(shape));
  });
}

}  // namespace trainscope::host
