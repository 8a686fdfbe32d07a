#include "kernels/optimizers.h"

#include <type_traits>

#include "host/adamw.h"
#include "host/loss_scale.h"
#include "host/rounded_steps.h"
#include "host/unscale.h"
#include "kernels/compare.h"
#include "kernels/loss_scale.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

template <typename T>
void check_unscale(std::size_t count, float scale, bool with_infinity, Stream stream) {
  std::vector<float> values = numbers(count, 51);
  if (with_infinity && count > 0) values[count / 2] = count % 2 == 0 ? INFINITY : NAN;
  auto gradient = rounded<T>(values);
  std::vector<float> expected = floats(gradient);
  const bool found = host::unscale(expected, host::inverse_scale(scale));
  const float inverse = host::inverse_scale(scale);
  const std::vector<kernels::Tensor<T>> list{{gradient.data(), count}};
  for (const float* factor : {static_cast<const float*>(nullptr), &inverse}) {
    const auto before = gradient;
    float found_inf = 0;
    kernels::unscale<T>(stream, list, factor, &found_inf);
    CHECK(found_inf == (found ? 1.0F : 0.0F));
    CHECK(same_bits(gradient, factor == nullptr ? before : rounded<T>(expected)));
  }
}

// A whole training's worth of steps with a loss scale: every fourth gradient is infinite, so that
// its step is skipped. `step` carries out one step on both sides.
template <typename Step>
void train(const Step& step) {
  for (int i = 0; i < 12; ++i) {
    const bool infinite = i % 4 == 2;
    std::vector<float> gradient = numbers(1001, 60 + static_cast<std::uint64_t>(i));
    step(gradient, infinite);
  }
}

struct Master {
  std::vector<float> parameter = numbers(1001, 52);
  std::vector<float> first = std::vector<float>(1001);
  std::vector<float> second = std::vector<float>(1001);
};

constexpr float kScale = 1024;

// The gradient as a backward pass in G gives it: scaled and rounded.
template <typename G>
std::vector<G> scaled_gradient(const std::vector<float>& gradient) {
  std::vector<float> scaled = gradient;
  for (float& g : scaled) g *= kScale;
  return rounded<G>(scaled);
}

template <typename G>
std::vector<float> unscaled(const std::vector<G>& gradient) {
  std::vector<float> values = floats(gradient);
  host::unscale(values, host::inverse_scale(kScale));
  return values;
}

template <typename G>
void check_adam(const host::Adam& options, Stream stream) {
  const kernels::Adam own_options{options.lr,  options.beta1,        options.beta2,
                                  options.eps, options.weight_decay, options.decoupled};
  Master host;
  Master own;
  std::vector<G> copy(own.parameter.size());
  kernels::AdamState state;
  std::int64_t taken = 0;
  train([&](const std::vector<float>& gradient, bool infinite) {
    const auto scaled = scaled_gradient<G>(gradient);
    if (!infinite) {
      host::adam_step(options, ++taken, unscaled(scaled), host.parameter,
                      {host.first, host.second});
    }
    const float found_inf = infinite ? 1.0F : 0.0F;
    const kernels::ScaledStep scaled_step{&kScale, &found_inf};
    const std::vector<kernels::AdamArrays<G>> list{{scaled.data(), own.parameter.data(),
                                                    own.first.data(), own.second.data(),
                                                    copy.data(), scaled.size()}};
    kernels::adam_step<G, float>(stream, own_options, scaled_step, &state, list);
  });
  CHECK(state.step == taken);
  check_near(own.parameter, host.parameter, 4);
  check_near(own.first, host.first, 4);
  check_near(own.second, host.second, 4);
  CHECK(same_bits(copy, rounded<G>(own.parameter)));
}

template <typename G>
void check_sgd(const host::Sgd& options, Stream stream) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  const kernels::Sgd own_options{narrow(options.lr), narrow(options.momentum),
                                 narrow(options.dampening), narrow(options.weight_decay),
                                 options.nesterov};
  Master host;
  Master own;
  // What stands in the velocity before the first step must not matter.
  own.first.assign(own.first.size(), 7.0F);
  kernels::SgdState state;
  std::int64_t taken = 0;
  train([&](const std::vector<float>& gradient, bool infinite) {
    const auto scaled = scaled_gradient<G>(gradient);
    if (!infinite) {
      host::sgd_step(options, taken++ == 0, unscaled(scaled), host.parameter, host.first);
    }
    const float found_inf = infinite ? 1.0F : 0.0F;
    const kernels::ScaledStep scaled_step{&kScale, &found_inf};
    const std::vector<kernels::SgdArrays<G>> list{
        {scaled.data(), own.parameter.data(), own.first.data(), nullptr, scaled.size()}};
    kernels::sgd_step<G, float>(stream, own_options, scaled_step, &state, list);
  });
  check_near(own.parameter, host.parameter, 4);
  if (options.momentum == 0) return;
  CHECK(state.steps == taken);
  CHECK(state.done == 0);
  check_near(own.first, host.first, 4);
}

// Parameters, gradients and state of the narrow type T: of one kernel, or as several leave them.
template <typename T>
struct NarrowWeights {
  static constexpr std::size_t kCount = 1001;
  static constexpr int kSteps = 5;
  static constexpr host::NumberFormat kFormat =
      std::is_same_v<T, Half> ? host::NumberFormat::kFloat16 : host::NumberFormat::kBfloat16;

  std::vector<T> parameter = rounded<T>(numbers(kCount, 52));
  std::vector<T> first = std::vector<T>(kCount), second = std::vector<T>(kCount);
  std::vector<float> p = floats(parameter), m = floats(first), v = floats(second);

  static std::vector<T> gradient(int step) {
    return rounded<T>(numbers(kCount, 60 + static_cast<std::uint64_t>(step), 0.1F));
  }
  void check() {
    for (std::vector<float>* values : {&p, &m, &v}) host::cast(kFormat, *values);
    CHECK(same_bits(parameter, rounded<T>(p)));
    CHECK(same_bits(first, rounded<T>(m)));
    CHECK(same_bits(second, rounded<T>(v)));
  }
};

template <typename T>
void check_narrow_sgd(const host::Sgd& options, bool rounds, Stream stream) {
  NarrowWeights<T> run;
  kernels::Sgd own;
  own.lr = static_cast<float>(options.lr);
  own.momentum = static_cast<float>(options.momentum);
  own.weight_decay = static_cast<float>(options.weight_decay);
  own.rounds = rounds;
  kernels::SgdState state;
  for (int step = 0; step < run.kSteps; ++step) {
    const std::vector<T> g = run.gradient(step);
    const std::vector<kernels::SgdArrays<T, T>> list{
        {g.data(), run.parameter.data(), run.first.data(), nullptr, g.size()}};
    kernels::sgd_step<T, T>(stream, own, {}, &state, list);
    if (rounds)
      host::rounded_sgd_step(run.kFormat, options, step == 0, floats(g), run.p, run.m);
    else
      host::sgd_step(options, step == 0, floats(g), run.p, run.m);
    run.check();
  }
}

template <typename T>
void check_narrow_adam(const host::Adam& options, bool rounds, Stream stream) {
  NarrowWeights<T> run;
  kernels::Adam own{options.lr,  options.beta1,        options.beta2,
                    options.eps, options.weight_decay, options.decoupled};
  own.rounds = rounds;
  kernels::AdamState state;
  for (int step = 0; step < run.kSteps; ++step) {
    const std::vector<T> g = run.gradient(step);
    const std::vector<kernels::AdamArrays<T, T>> list{
        {g.data(), run.parameter.data(), run.first.data(), run.second.data(), nullptr, g.size()}};
    kernels::adam_step<T, T>(stream, own, {}, &state, list);
    if (rounds)
      host::rounded_adam_step(run.kFormat, options, step + 1, floats(g), run.p, {run.m, run.v});
    else
      host::adam_step(options, step + 1, floats(g), run.p, {run.m, run.v});
    run.check();
  }
}

}  // namespace

TEST_CASE("steps of narrow parameters are the host's to the bit, in one kernel or as in several") {
  host::Adam eps;
  eps.eps = 1e-4;
  eps.weight_decay = 0.1;
  for (const bool rounds : {false, true})
    for (const Stream stream : kOrders) {
      for (const host::Sgd& options :
           {host::Sgd{0.1, 0, 0, 0, false}, host::Sgd{0.1, 0.9, 0, 1e-2, false}}) {
        check_narrow_sgd<Half>(options, rounds, stream);
        check_narrow_sgd<Bfloat16>(options, rounds, stream);
      }
      for (const host::Adam& options : {eps, host::adamw_defaults()})
        check_narrow_adam<Bfloat16>(options, rounds, stream);
      check_narrow_adam<Half>(eps, rounds, stream);
    }
}

TEST_CASE("gradients are unscaled to the bit and what is not finite is found") {
  for (const std::size_t count : kCounts) {
    for (const bool with_infinity : {false, true}) {
      check_unscale<float>(count, 65536, with_infinity, Stream{count});
      check_unscale<Half>(count, 8, with_infinity, Stream{});
      check_unscale<Bfloat16>(count, 3, with_infinity, Stream{});
    }
  }
}

TEST_CASE("the loss scale follows the host's over growth, backoff and overflow") {
  const host::LossScaleRule rule{2, 0.5, 3};
  host::LossScale expected{0x1p125F, 0};
  float scale = expected.scale;
  std::int32_t clean_steps = 0;
  for (int i = 0; i < 60; ++i) {
    const bool found = random_word(53, static_cast<std::uint64_t>(i)) % 7 == 0;
    const float found_inf = found ? 1.0F : 0.0F;
    host::update(expected, rule, found);
    kernels::update_loss_scale(Stream{}, {2, 0.5, 3}, &found_inf, &scale, &clean_steps);
    CHECK(scale == expected.scale);
    CHECK(clean_steps == expected.clean_steps);
  }
}

TEST_CASE("Adam and AdamW with a loss scale are the host's, skipped steps and all") {
  const host::Adam adamw = host::adamw_defaults();
  host::Adam adam;
  adam.weight_decay = 0.1;
  for (const host::Adam& options : {host::Adam{}, adam, adamw}) {
    check_adam<float>(options, Stream{});
    check_adam<Half>(options, Stream{1});
    check_adam<Bfloat16>(options, Stream{2});
  }
}

TEST_CASE("SGD with a loss scale is the host's, skipped steps and all") {
  for (const host::Sgd& options : {
           host::Sgd{0.1, 0, 0, 0, false},
           host::Sgd{0.1, 0.9, 0, 1e-2, false},
           host::Sgd{0.05, 0.9, 0.1, 0, false},
           host::Sgd{0.05, 0.9, 0, 1e-3, true},
       }) {
    check_sgd<float>(options, Stream{});
    check_sgd<Half>(options, Stream{1});
    check_sgd<Bfloat16>(options, Stream{2});
  }
}

TEST_CASE("a step of nothing, of one and of parameters that are not aligned") {
  for (const std::size_t count : {0, 1, 2, 5, 33}) {
    const std::vector<float> gradient = numbers(count + 1, 54);
    std::vector<float> expected = numbers(count + 1, 55);
    std::vector<float> parameter = expected;
    kernels::SgdState state;
    const std::vector<kernels::SgdArrays<float>> list{
        {gradient.data() + 1, parameter.data() + 1, nullptr, nullptr, count}};
    kernels::sgd_step<float, float>(Stream{}, {0.5F, 0, 0, 0, false}, {}, &state, list);
    const host::Sgd options{0.5, 0, 0, 0, false};
    host::sgd_step(options, true, host::Values(gradient).subspan(1),
                   host::Results(expected).subspan(1), {});
    CHECK(parameter == expected);
  }
}
