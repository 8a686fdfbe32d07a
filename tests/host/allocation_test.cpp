// A step that has its memory takes no more: counts the allocations of this program.
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "host/accuracy.h"
#include "host/adam.h"
#include "host/attention.h"
#include "host/average_pool.h"
#include "host/batch_norm.h"
#include "host/bias.h"
#include "host/cast.h"
#include "host/clip_gradients.h"
#include "host/contiguous_attention.h"
#include "host/conv2d.h"
#include "host/cross_entropy.h"
#include "host/dropout.h"
#include "host/elementwise.h"
#include "host/embedding.h"
#include "host/gelu.h"
#include "host/gradient.h"
#include "host/layer_norm.h"
#include "host/linear.h"
#include "host/log_softmax.h"
#include "host/max_pool.h"
#include "host/nll_loss.h"
#include "host/relu.h"
#include "host/sgd.h"
#include "host/tiled_attention.h"
#include "host/unscale.h"
#include "host/with_precision.h"
#include "host/workers.h"
#include "support/allocations.h"

#ifdef TRAINSCOPE_COUNTS_ALLOCATIONS

using namespace trainscope;
using namespace trainscope::host;

namespace {

template <typename Step>
long allocations_of(const Step& step) {
  const long before = test::allocations;
  step();
  return test::allocations - before;
}

// Everything that the operations below read and write. Sizes: 16 rows of 24, or two images of three
// channels of 8x8.
struct Memory {
  static constexpr std::size_t kSize = 384;
  std::vector<float> x = normal_values(kSize, 1);
  std::vector<float> w = normal_values(kSize, 2);
  std::vector<float> y = std::vector<float>(kSize);
  std::vector<float> dx = std::vector<float>(kSize);
  std::vector<float> dk = std::vector<float>(kSize);
  std::vector<float> dv = std::vector<float>(kSize);
  std::vector<float> moments = std::vector<float>(96);
  std::vector<float> kept = std::vector<float>(1 << 12);
  std::vector<float> room = std::vector<float>(1 << 15);
  std::vector<std::int32_t> chosen = std::vector<std::int32_t>(96);
  std::vector<std::int64_t> targets = std::vector<std::int64_t>(16, 3);

  Values weights(std::size_t count) const { return Values(w).first(count); }
  Results small(std::size_t begin, std::size_t count) {
    return Results(moments).subspan(begin, count);
  }
};

const MatrixShape kRows{16, 24};
const ImageShape kImage{2, 3, 8, 8, ImageLayout::kChannelsFirst};

void dense(Memory& m, const Workers& workers) {
  const LinearShape linear{16, 24, 4};
  linear_forward(linear, m.x, m.weights(96), m.weights(4), Results(m.y).first(64), workers);
  linear_backward(linear, m.x, m.weights(96), m.weights(64),
                  {m.dx, Results(m.dk).first(96), m.small(0, 4)}, Into::kReplace, workers);
  bias_backward(kRows, m.x, m.small(0, 24), Into::kAdd, workers);
  relu_forward(m.x, m.y, workers);
  relu_backward(m.y, m.w, m.dx, workers);
  for (const Gelu kind : {Gelu::kErf, Gelu::kTanh}) {
    gelu_forward(kind, m.x, m.y, workers);
    gelu_backward(kind, m.x, m.w, m.dx, workers);
  }
  layer_norm_forward(kRows, m.x, m.weights(24), m.weights(24), m.y,
                     {m.small(0, 16), m.small(16, 16)}, kLayerNormEps, workers);
  layer_norm_backward(kRows, m.x, m.weights(24), m.w, m.small(0, 16), m.small(16, 16),
                      {m.dx, m.small(32, 24), m.small(56, 24)}, Into::kAdd, workers);
  embedding_forward({16, 24}, m.x, m.targets, m.y, workers);
  embedding_backward({16, 24}, m.targets, m.x, m.y, Into::kReplace, workers);
  apply_dropout({0.1F, 1, 2, 3}, m.x, m.y, workers);
  add(m.x, m.w, m.y, workers);
  scale(m.x, 2, m.y, workers);
  fill(m.y, 0, workers);
}

void losses(Memory& m, const Workers& workers) {
  cross_entropy_forward(kRows, m.x, m.targets, m.small(0, 32), workers);
  cross_entropy_backward(kRows, m.y, m.targets, m.small(0, 32), 1, workers);
  log_softmax_forward(kRows, m.x, m.y, workers);
  log_softmax_backward(kRows, m.y, m.w, m.dx, workers);
  nll_loss_forward(kRows, m.y, m.targets, m.small(0, 1));
  nll_loss_backward(kRows, m.targets, 1, m.dx);
  correct_rows(kRows, m.x, m.targets);
}

void images(Memory& m, const Workers& workers) {
  const Conv2d conv{kImage, 3, 1, {3, 1, 1, 1}, {3, 1, 1, 1}};
  const MaxPool pool{kImage, {2, 2, 0, 1}, {2, 2, 0, 1}};
  conv2d_forward(conv, m.x, m.weights(81), m.weights(3), m.y, m.room, workers);
  conv2d_backward(conv, m.x, m.weights(81), m.w, {m.dx, Results(m.dk).first(81), m.small(0, 3)},
                  m.room, Into::kAdd, workers);
  max_pool_forward(pool, m.x, Results(m.y).first(96), m.chosen, workers);
  max_pool_backward(pool, m.weights(96), m.chosen, m.dx, workers);
  average_pool_forward(kImage, m.x, m.small(0, 6), workers);
  average_pool_backward(kImage, m.weights(6), m.dx, workers);
  const RowMoments kept{m.small(0, 3), m.small(3, 3)};
  batch_norm_train(kImage, m.x, m.weights(3), m.weights(3), m.y, kept,
                   {m.small(6, 3), m.small(9, 3)}, kBatchNormEps, workers);
  batch_norm_evaluate(kImage, m.x, m.weights(3), m.weights(3), m.small(6, 3), m.small(9, 3), m.y,
                      kept, kBatchNormEps, workers);
  batch_norm_backward(Mode::kTrain, kImage, m.x, m.weights(3), m.w, kept.mean, kept.rstd,
                      {m.dx, m.small(12, 3), m.small(15, 3)}, Into::kAdd, workers);
}

void attention(Memory& m, const Workers& workers) {
  const AttentionShape heads = contiguous_attention(1, 2, 24, 8);
  const AttentionInputs inputs{m.x, m.w, m.x};
  const Results p = Results(m.kept).first(heads.probabilities());
  const Results lse = Results(m.kept).first(48);
  attention_forward(heads, inputs, m.y, p, workers);
  attention_backward(heads, inputs, p, m.w, {m.dx, m.dk, m.dv}, m.room, workers);
  tiled_attention_forward(heads, {8, 8}, inputs, m.y, lse, m.room, workers);
  tiled_attention_backward(heads, {8, 8}, inputs, m.y, lse, m.w, {m.dx, m.dk, m.dv}, m.room,
                           workers);
}

void updates(Memory& m, const Workers& workers) {
  const std::array<Results, 2> gradients{m.dx, m.dk};
  unscale(m.dx, 0.5F, workers);
  clip_gradients(gradients, 1, workers);
  sgd_step({0.1, 0.9, 0, 0, false}, false, m.dx, m.y, m.dv, workers);
  adam_step({}, 1, m.dx, m.y, {m.dk, m.dv}, workers);
  cast(NumberFormat::kFloat16, m.x, m.y, workers);
  cast_losses(NumberFormat::kFloat16, m.x);
  with_precision(kBf16, std::array<Values, 1>{m.x}, std::array<Results, 1>{m.y}, m.room,
                 [&](const auto& in) { relu_forward(in[0], m.y, workers); });
}

}  // namespace

TEST_CASE("no operation allocates memory, alone or with workers") {
  Memory memory;
  for (const int threads : {1, 2}) {
    const Workers workers(threads);
    const auto step = [&] {
      dense(memory, workers);
      losses(memory, workers);
      images(memory, workers);
      attention(memory, workers);
      updates(memory, workers);
    };
    step();
    CHECK(allocations_of(step) == 0);
  }
  CHECK(allocations_of([&] { memory.room.reserve(memory.room.capacity() + 1); }) == 1);
}

#endif
