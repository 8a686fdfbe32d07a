#include "host/attention.h"

#include <algorithm>
#include <cassert>

#include "host/blas.h"
#include "host/heads.h"
#include "host/sums.h"

namespace trainscope::host {
namespace {

float scale_of(const AttentionShape& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
}

// Softmax of the first `row + 1` values of each row; those above the diagonal become 0.
void causal_softmax(std::size_t length, float* scores) {
  for (std::size_t row = 0; row < length; ++row) {
    float* values = scores + row * length;
    const std::size_t visible = row + 1;
    const float maximum = largest_of(values, visible);
    for (std::size_t c = 0; c < visible; ++c) values[c] = std::exp(values[c] - maximum);
    const double sum = sum_of(visible, [=](std::size_t c) { return values[c]; });
    const auto share = static_cast<float>(1 / sum);
    for (std::size_t c = 0; c < visible; ++c) values[c] *= share;
    std::fill(values + visible, values + length, 0.0F);
  }
}

// dp becomes ds; above the diagonal p is 0, so it does too.
void softmax_backward(std::size_t length, const float* p, float* dp) {
  for (std::size_t row = 0; row < length; ++row) {
    const float* share = p + row * length;
    float* d = dp + row * length;
    const auto common = static_cast<float>(
        sum_of(row + 1, [=](std::size_t c) { return static_cast<double>(share[c]) * d[c]; }));
    for (std::size_t c = 0; c <= row; ++c) d[c] = share[c] * (d[c] - common);
    std::fill(d + row + 1, d + length, 0.0F);
  }
}

void backward_head(const AttentionShape& shape, const AttentionInputs& inputs,
                   const HeadPlace& head, const float* p, const float* d_output,
                   const AttentionGradients& gradients, float* ds) {
  const std::size_t length = shape.length;
  const std::size_t token = shape.inputs.token;
  const std::size_t out_token = shape.outputs.token;
  gemm({length, shape.width, length}, {p, length, true}, {d_output, out_token},
       {&gradients.dv[head.in], token});
  gemm({length, length, shape.width}, {d_output, out_token}, {&inputs.v[head.in], token, true},
       {ds, length});
  softmax_backward(length, p, ds);
  gemm({length, shape.width, length}, {ds, length}, {&inputs.k[head.in], token},
       {&gradients.dq[head.in], token}, scale_of(shape));
  gemm({length, shape.width, length}, {ds, length, true}, {&inputs.q[head.in], token},
       {&gradients.dk[head.in], token}, scale_of(shape));
}

}  // namespace

std::size_t attention_workspace(const AttentionShape& shape) {
  return std::min(kShares, shape.batch * shape.heads) * shape.length * shape.length;
}

void attention_forward(const AttentionShape& shape, const AttentionInputs& inputs, Results o,
                       Results probabilities, const Workers& workers) {
  assert(probabilities.size() == shape.probabilities());
  const std::size_t length = shape.length;
  const std::size_t token = shape.inputs.token;
  workers.for_each(shape.batch * shape.heads, [&](std::size_t index) {
    const HeadPlace head = place_of(shape, index, length * length);
    float* p = &probabilities[head.at];
    gemm({length, length, shape.width}, {&inputs.q[head.in], token},
         {&inputs.k[head.in], token, true}, {p, length}, scale_of(shape));
    causal_softmax(length, p);
    gemm({length, shape.width, length}, {p, length}, {&inputs.v[head.in], token},
         {&o[head.out], shape.outputs.token});
  });
}

void attention_backward(const AttentionShape& shape, const AttentionInputs& inputs,
                        Values probabilities, Values d_output, const AttentionGradients& gradients,
                        Results workspace, const Workers& workers) {
  const std::size_t room = shape.length * shape.length;
  assert(probabilities.size() == shape.probabilities() && workspace.size() >= room);
  deal_heads(shape.batch * shape.heads, room, workspace, workers,
             [&](std::size_t index, Results own) {
               const HeadPlace head = place_of(shape, index, room);
               backward_head(shape, inputs, head, &probabilities[head.at], &d_output[head.out],
                             gradients, own.data());
             });
}

}  // namespace trainscope::host
