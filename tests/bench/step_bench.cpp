// Training steps on the CPU, each made of the operations by hand: forward, backward and update of
// three small networks. tests/bench/vs_torch.py runs the same steps in PyTorch.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bench.h"
#include "host/adam.h"
#include "host/conv2d.h"
#include "host/cross_entropy.h"
#include "host/linear.h"
#include "host/max_pool.h"
#include "host/relu.h"

namespace trainscope::bench {
namespace {

using host::Results;
using host::Values;
using host::Workers;

constexpr std::size_t kClasses = 10;

std::vector<float> uniform_values(std::size_t count, std::uint64_t seed, double bound) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((2 * unit_float(random_word(seed, i)) - 1) * bound);
  }
  return values;
}

std::vector<std::int64_t> classes(std::size_t count) {
  std::vector<std::int64_t> targets(count);
  for (std::size_t i = 0; i < count; ++i) targets[i] = static_cast<std::int64_t>(i % kClasses);
  return targets;
}

// A parameter with its gradient and AdamW's moments.
struct Parameter {
  Parameter(std::size_t count, std::size_t terms, std::uint64_t seed)
      : value(uniform_values(count, seed, 1 / std::sqrt(static_cast<double>(terms)))),
        gradient(count),
        first(count),
        second(count) {}

  void update(std::int64_t step, const Workers& workers) {
    adam_step(host::adamw_defaults(), step, gradient, value, {first, second}, workers);
  }

  std::vector<float> value;
  std::vector<float> gradient;
  std::vector<float> first;
  std::vector<float> second;
};

struct Dense {
  Dense(const host::LinearShape& linear, std::uint64_t seed)
      : shape(linear),
        w(linear.inputs * linear.outputs, linear.inputs, seed),
        b(linear.outputs, linear.inputs, seed + 1),
        y(linear.rows * linear.outputs),
        dy(y.size()) {}

  void forward(Values x, const Workers& workers) {
    linear_forward(shape, x, w.value, b.value, y, workers);
  }
  void backward(Values x, Results dx, const Workers& workers) {
    linear_backward(shape, x, w.value, dy, {dx, w.gradient, b.gradient}, host::Into::kReplace,
                    workers);
  }
  void update(std::int64_t step, const Workers& workers) {
    w.update(step, workers);
    b.update(step, workers);
  }

  host::LinearShape shape;
  Parameter w;
  Parameter b;
  std::vector<float> y;
  std::vector<float> dy;
};

// The last layer's outputs become their gradients.
float loss_of(Dense& last, std::span<const std::int64_t> targets, Results statistics,
              const Workers& workers) {
  const host::MatrixShape shape{last.shape.rows, last.shape.outputs};
  const float loss = cross_entropy_forward(shape, last.y, targets, statistics, workers);
  last.dy = last.y;
  cross_entropy_backward(shape, last.dy, targets, statistics, 1, workers);
  return loss;
}

// inputs → hidden → hidden → classes, with ReLU between.
class Mlp {
 public:
  Mlp(std::size_t batch, std::size_t inputs, std::size_t hidden)
      : x_(uniform_values(batch * inputs, 1, 1)),
        targets_(classes(batch)),
        statistics_(2 * batch),
        layers_{Dense({batch, inputs, hidden}, 2), Dense({batch, hidden, hidden}, 4),
                Dense({batch, hidden, kClasses}, 6)} {}

  float step(const Workers& workers) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i].forward(input(i), workers);
      if (i + 1 < layers_.size()) relu_forward(layers_[i].y, layers_[i].y, workers);
    }
    const float loss = loss_of(layers_.back(), targets_, statistics_, workers);
    for (std::size_t i = layers_.size() - 1; i > 0; --i) {
      Dense& before = layers_[i - 1];
      layers_[i].backward(before.y, before.dy, workers);
      relu_backward(before.y, before.dy, before.dy, workers);
    }
    layers_[0].backward(x_, {}, workers);
    ++steps_;
    for (Dense& layer : layers_) layer.update(steps_, workers);
    return loss;
  }

 private:
  Values input(std::size_t layer) const { return layer == 0 ? x_ : layers_[layer - 1].y; }

  std::vector<float> x_;
  std::vector<std::int64_t> targets_;
  std::vector<float> statistics_;
  std::vector<Dense> layers_;
  std::int64_t steps_ = 0;
};

// A convolution of 3x3 that keeps the size, ReLU, and max-pooling that halves it.
struct ConvBlock {
  ConvBlock(const host::ImageShape& input, std::size_t outputs, std::uint64_t seed)
      : conv{input, outputs, 1, {3, 1, 1, 1}, {3, 1, 1, 1}},
        pool{conv.output(), {2, 2, 0, 1}, {2, 2, 0, 1}},
        w(conv.weights(), input.channels * 9, seed),
        b(outputs, input.channels * 9, seed + 1),
        y(conv.output().size()),
        dy(y.size()),
        pooled(pool.output().size()),
        d_pooled(pooled.size()),
        chosen(pooled.size()),
        room(conv.workspace()) {}

  void forward(Values x, const Workers& workers) {
    conv2d_forward(conv, x, w.value, b.value, y, room, workers);
    relu_forward(y, y, workers);
    max_pool_forward(pool, y, pooled, chosen, workers);
  }
  void backward(Values x, Results dx, const Workers& workers) {
    max_pool_backward(pool, d_pooled, chosen, dy, workers);
    relu_backward(y, dy, dy, workers);
    conv2d_backward(conv, x, w.value, dy, {dx, w.gradient, b.gradient}, room, host::Into::kReplace,
                    workers);
  }
  void update(std::int64_t step, const Workers& workers) {
    w.update(step, workers);
    b.update(step, workers);
  }

  host::Conv2d conv;
  host::MaxPool pool;
  Parameter w;
  Parameter b;
  std::vector<float> y;
  std::vector<float> dy;
  std::vector<float> pooled;
  std::vector<float> d_pooled;
  std::vector<std::int32_t> chosen;
  std::vector<float> room;
};

// 28x28 → 16 channels → pooled → 32 channels → pooled → classes.
class Cnn {
 public:
  explicit Cnn(std::size_t batch)
      : x_(uniform_values(batch * 28 * 28, 1, 1)),
        targets_(classes(batch)),
        statistics_(2 * batch),
        first_({batch, 1, 28, 28, host::ImageLayout::kChannelsFirst}, 16, 2),
        second_(first_.pool.output(), 32, 4),
        last_({batch, 32 * 7 * 7, kClasses}, 6) {}

  float step(const Workers& workers) {
    first_.forward(x_, workers);
    second_.forward(first_.pooled, workers);
    last_.forward(second_.pooled, workers);
    const float loss = loss_of(last_, targets_, statistics_, workers);
    last_.backward(second_.pooled, second_.d_pooled, workers);
    second_.backward(first_.pooled, first_.d_pooled, workers);
    first_.backward(x_, {}, workers);
    ++steps_;
    first_.update(steps_, workers);
    second_.update(steps_, workers);
    last_.update(steps_, workers);
    return loss;
  }

 private:
  std::vector<float> x_;
  std::vector<std::int64_t> targets_;
  std::vector<float> statistics_;
  ConvBlock first_;
  ConvBlock second_;
  Dense last_;
  std::int64_t steps_ = 0;
};

struct StepCase {
  std::string name;
  std::function<float(const Workers&)> step;
};

template <typename Network, typename... Sizes>
StepCase step_case(const std::string& name, Sizes... sizes) {
  auto network = std::make_shared<Network>(sizes...);
  return {name, [network](const Workers& workers) { return network->step(workers); }};
}

}  // namespace

void bench_steps() {
  fmt::print("\ntraining steps on the CPU, ms\n");
  constexpr int kRuns = 100;
  for (const int threads : {1, 2}) {
    const Workers workers(threads);
    for (const StepCase& one : {step_case<Mlp>("mlp-64-256-256-10", 64, 64, 256),
                                step_case<Mlp>("mlp-784-1024-1024-10", 128, 784, 1024),
                                step_case<Cnn>("cnn-28x28-16-32", 64)}) {
      float loss = 0;
      const Timing took = time_of(kRuns, [&] { loss = one.step(workers); });
      fmt::print("  {:22} {} threads: best {:7.3f}, median {:7.3f} (loss {:.4f})\n", one.name,
                 threads, took.best * 1e3, took.median * 1e3, loss);
    }
  }
}

}  // namespace trainscope::bench
