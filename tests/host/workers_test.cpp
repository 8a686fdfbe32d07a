// Sharing work out, and that nothing depends on who does it.
#include "host/workers.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "host/adam.h"
#include "host/adamw.h"
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
#include "host/relu.h"
#include "host/sgd.h"
#include "host/tiled_attention.h"
#include "host/unscale.h"
#include "support/little_room.h"
#include "support/sanitized.h"
#include "support/skip.h"

using namespace trainscope;
using namespace trainscope::host;

TEST_CASE("every part is done once, however many threads there are") {
  for (const int threads : {1, 2, 5}) {
    const Workers workers(threads);
    CHECK(workers.threads() == threads);
    for (const std::size_t parts : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> done(parts);
      workers.for_each(parts, [&](std::size_t part) { ++done[part]; });
      for (const std::atomic<int>& count : done) CHECK(count == 1);
    }
  }
  CHECK(Workers().threads() == 1);
  CHECK_THROWS_WITH(Workers(0), "work needs at least 1 thread, not 0");
}

TEST_CASE("what a part throws is thrown once no thread is at work, and the next work is done") {
  for (const int threads : {1, 2, 5}) {
    const Workers workers(threads);
    for (std::size_t failing = 0; failing < 20; ++failing) {
      std::atomic<int> at_work{0};
      const auto body = [&](std::size_t part) {
        ++at_work;
        if (part != failing) std::this_thread::sleep_for(std::chrono::microseconds(20));
        --at_work;
        if (part == failing) throw std::bad_alloc();
      };
      CHECK_THROWS_AS(workers.for_each(100, body), std::bad_alloc);
      CHECK(at_work == 0);
      std::atomic<int> done{0};
      workers.for_each(100, [&](std::size_t) { ++done; });
      CHECK(done == 100);
    }
  }
}

#ifdef __linux__
TEST_CASE("where there is no room for the stacks of all threads, fewer do the work") {
  if (test::kSanitized) TRAINSCOPE_SKIP("a sanitizer needs far more memory");
  CHECK(test::holds_in_child([] {
    test::leave_room(rlim_t{64} << 20);
    const Workers workers(100);
    std::atomic<int> done{0};
    workers.for_each(1000, [&](std::size_t) { ++done; });
    return workers.threads() < 100 && done == 1000;
  }));
}
#endif

TEST_CASE("ranges cover everything once") {
  const Workers workers(2);
  std::vector<int> seen(1001);
  std::atomic<int> askew{0};  // assertions are the test's own thread's
  workers.for_ranges(seen.size(), 64, [&](std::size_t begin, std::size_t end) {
    if (begin % 64 != 0) ++askew;
    for (std::size_t i = begin; i < end; ++i) ++seen[i];
  });
  CHECK(askew == 0);
  CHECK(seen == std::vector<int>(1001, 1));
}

TEST_CASE("thousands of tasks in a row lose no part") {
  const Workers workers(3);
  std::atomic<std::size_t> total{0};
  for (int round = 0; round < 5000; ++round) {
    workers.for_each(7, [&](std::size_t part) { total += part; });
  }
  CHECK(total == 5000 * 21);
}

namespace {

// What each operation writes, one after another.
class Record {
 public:
  Results results(std::size_t count) {
    outputs_.emplace_back(count, 0.5F);
    return outputs_.back();
  }
  const std::vector<std::vector<float>>& outputs() const { return outputs_; }

 private:
  std::vector<std::vector<float>> outputs_;
};

std::vector<std::vector<float>> matrices(const Workers& workers) {
  Record record;
  const LinearShape linear{130, 300, 200};
  const MatrixShape rows{130, 300};
  const std::vector<float> x = normal_values(rows.size(), 131);
  const std::vector<float> w = normal_values(200 * 300, 132);
  const std::vector<float> bias = normal_values(200, 133);
  const std::vector<float> gamma = normal_values(300, 134);
  const std::vector<float> dy = normal_values(130 * 300, 135);
  const Values dy_linear = Values(dy).first(130 * 200);
  std::vector<std::int64_t> targets(130);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::int64_t>(i % 300);
  linear_forward(linear, x, w, bias, record.results(130 * 200), workers);
  linear_backward(linear, x, w, dy_linear,
                  {record.results(x.size()), record.results(w.size()), record.results(200)},
                  Into::kReplace, workers);
  relu_forward(x, record.results(x.size()), workers);
  relu_backward(x, dy, record.results(x.size()), workers);
  for (const Gelu kind : {Gelu::kErf, Gelu::kTanh}) {
    gelu_forward(kind, x, record.results(x.size()), workers);
    gelu_backward(kind, x, dy, record.results(x.size()), workers);
  }
  const Results statistics = record.results(260);
  record.results(1)[0] = cross_entropy_forward(rows, x, targets, statistics, workers);
  const Results logits = record.results(x.size());
  add(x, dy, logits, workers);
  cross_entropy_backward(rows, logits, targets, statistics, 1, workers);
  log_softmax_forward(rows, x, record.results(x.size()), workers);
  log_softmax_backward(rows, x, dy, record.results(x.size()), workers);
  const Results mean = record.results(130);
  const Results rstd = record.results(130);
  layer_norm_forward(rows, x, gamma, gamma, record.results(x.size()), {mean, rstd}, kLayerNormEps,
                     workers);
  layer_norm_backward(rows, x, gamma, dy, mean, rstd,
                      {record.results(x.size()), record.results(300), record.results(300)},
                      Into::kReplace, workers);
  embedding_forward(rows, x, std::vector<std::int64_t>(200, 129), record.results(200 * 300),
                    workers);
  embedding_backward(rows, std::vector<std::int64_t>(130, 7), dy, record.results(x.size()),
                     Into::kAdd, workers);
  return record.outputs();
}

std::vector<std::vector<float>> images(ImageLayout layout, const Workers& workers) {
  Record record;
  const Conv2d conv{{13, 20, 12, 11, layout}, 24, 2, {3, 1, 1, 1}, {3, 1, 1, 1}};
  const MaxPool pool{conv.input, {3, 2, 1, 1}, {2, 2, 0, 1}};
  const std::vector<float> x = normal_values(conv.input.size(), 141);
  const std::vector<float> w = normal_values(conv.weights(), 142);
  const std::vector<float> dy = normal_values(conv.output().size(), 143);
  const std::vector<float> channels = normal_values(24, 144);
  const Values gamma = Values(channels).first(20);
  const Results room = record.results(conv.workspace());
  conv2d_forward(conv, x, w, channels, record.results(dy.size()), room, workers);
  conv2d_backward(conv, x, w, dy,
                  {record.results(x.size()), record.results(w.size()), record.results(24)}, room,
                  Into::kAdd, workers);
  std::vector<std::int32_t> chosen(pool.output().size());
  max_pool_forward(pool, x, record.results(chosen.size()), chosen, workers);
  max_pool_backward(pool, Values(dy).first(chosen.size()), chosen, record.results(x.size()),
                    workers);
  average_pool_forward(conv.input, x, record.results(13 * 20), workers);
  average_pool_backward(conv.input, Values(dy).first(13 * 20), record.results(x.size()), workers);
  const Results mean = record.results(20);
  const Results rstd = record.results(20);
  batch_norm_train(conv.input, x, gamma, gamma, record.results(x.size()), {mean, rstd},
                   {record.results(20), record.results(20)}, kBatchNormEps, workers);
  batch_norm_backward(Mode::kTrain, conv.input, x, gamma, Values(dy).first(x.size()), mean, rstd,
                      {record.results(x.size()), record.results(20), record.results(20)},
                      Into::kReplace, workers);
  return record.outputs();
}

std::vector<std::vector<float>> heads(const Workers& workers) {
  Record record;
  const AttentionShape shape = contiguous_attention(2, 5, 40, 8);
  const std::size_t size = 2 * 5 * 40 * 8;
  const std::vector<float> q = normal_values(size, 151);
  const std::vector<float> k = normal_values(size, 152);
  const std::vector<float> d_output = normal_values(size, 153);
  const AttentionInputs inputs{q, k, d_output};
  const auto gradients = [&] {
    return AttentionGradients{record.results(size), record.results(size), record.results(size)};
  };
  const Results p = record.results(shape.probabilities());
  std::vector<float> room(attention_workspace(shape));
  attention_forward(shape, inputs, record.results(size), p, workers);
  attention_backward(shape, inputs, p, d_output, gradients(), room, workers);
  const Results o = record.results(size);
  const Results lse = record.results(400);
  std::vector<float> tiled_room(4 * tiled_attention_workspace(shape, {16, 16}));
  tiled_attention_forward(shape, {16, 16}, inputs, o, lse, tiled_room, workers);
  tiled_attention_backward(shape, {16, 16}, inputs, o, lse, d_output, gradients(), tiled_room,
                           workers);
  return record.outputs();
}

std::vector<std::vector<float>> updates(const Workers& workers) {
  Record record;
  const std::size_t size = 100'003;
  const std::vector<float> g = normal_values(size, 161);
  adam_step(adamw_defaults(), 3, g, record.results(size),
            {record.results(size), record.results(size)}, workers);
  sgd_step({0.1, 0.9, 0, 0.01, true}, false, g, record.results(size), record.results(size),
           workers);
  scale(g, 3, record.results(size), workers);
  const Results clipped = record.results(size);
  add(g, g, clipped, workers);
  const std::array<Results, 1> all{clipped};
  record.results(1)[0] = clip_gradients(all, 1, workers);
  const Results unscaled = record.results(size);
  fill(unscaled, 3, workers);
  CHECK(!unscale(unscaled, 0.1F, workers));
  cast(NumberFormat::kFloat16, g, record.results(size), workers);
  apply_dropout({0.3F, 1, 2, 3}, g, record.results(size), workers);
  return record.outputs();
}

}  // namespace

TEST_CASE("results are the same bytes whatever the number of threads") {
  const Workers alone;
  for (const int threads : {2, 3, 8}) {
    const Workers workers(threads);
    CHECK(matrices(workers) == matrices(alone));
    CHECK(images(ImageLayout::kChannelsFirst, workers) ==
          images(ImageLayout::kChannelsFirst, alone));
    CHECK(images(ImageLayout::kChannelsLast, workers) == images(ImageLayout::kChannelsLast, alone));
    CHECK(heads(workers) == heads(alone));
    CHECK(updates(workers) == updates(alone));
  }
}
