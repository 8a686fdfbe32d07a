#include "host/rounded_steps.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace trainscope::host {
namespace {

constexpr std::size_t kBlock = 512;
using Block = std::array<float, kBlock>;

float narrowed(double value) {
  return static_cast<float>(value);
}

// One kernel: to[i] = f(i), rounded.
template <typename Function>
void each(NumberFormat format, Results to, const Function& f) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(i);
  cast(format, to);
}

// Calls body(begin, count) for blocks of a tensor that workers share.
template <typename Body>
void for_blocks(std::size_t size, const Workers& workers, const Body& body) {
  workers.for_ranges(size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kBlock) body(at, std::min(kBlock, end - at));
  });
}

// The gradient with the decay in it, in a tensor of its own.
Values with_decay(NumberFormat format, float decay, Values gradient, Values parameter,
                  Block& room) {
  if (decay == 0) return gradient;
  const Results sum(room.data(), gradient.size());
  each(format, sum, [&](std::size_t i) { return gradient[i] + decay * parameter[i]; });
  return sum;
}

void move(NumberFormat format, const Sgd& options, bool first_step, Values gradient, Results v) {
  if (first_step) {
    std::copy(gradient.begin(), gradient.end(), v.begin());
    return;
  }
  const float momentum = narrowed(options.momentum), fresh = narrowed(1 - options.dampening);
  each(format, v, [&](std::size_t i) { return momentum * v[i]; });
  each(format, v, [&](std::size_t i) { return v[i] + fresh * gradient[i]; });
}

// a + weight (b - a), from the nearer end, as torch.lerp does.
float between(float a, float b, float weight) {
  return weight < 0.5F ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

struct AdamFactors {
  AdamFactors(const Adam& options, std::int64_t step)
      : rate(narrowed(options.lr / (1 - std::pow(options.beta1, static_cast<double>(step))))),
        correction(narrowed(std::sqrt(1 - std::pow(options.beta2, static_cast<double>(step))))),
        kept(narrowed(1 - options.lr * options.weight_decay)),
        decay(narrowed(options.weight_decay)),
        weight1(narrowed(1 - options.beta1)),
        beta2(narrowed(options.beta2)),
        weight2(narrowed(1 - options.beta2)),
        eps(narrowed(options.eps)) {}

  float rate;
  float correction;
  float kept;
  float decay;
  float weight1;
  float beta2;
  float weight2;
  float eps;
};

void adam_block(NumberFormat format, const AdamFactors& f, bool decoupled, Values gradient,
                Results p, Results m, Results v) {
  Block room, roots;
  if (decoupled && f.decay != 0) each(format, p, [&](std::size_t i) { return p[i] * f.kept; });
  const Values g = with_decay(format, decoupled ? 0 : f.decay, gradient, p, room);
  each(format, m, [&](std::size_t i) { return between(m[i], g[i], f.weight1); });
  each(format, v, [&](std::size_t i) { return f.beta2 * v[i]; });
  each(format, v, [&](std::size_t i) { return v[i] + f.weight2 * (g[i] * g[i]); });
  const Results d(roots.data(), p.size());
  each(format, d, [&](std::size_t i) { return std::sqrt(v[i]); });
  each(format, d, [&](std::size_t i) { return d[i] / f.correction; });
  each(format, d, [&](std::size_t i) { return d[i] + f.eps; });
  each(format, p, [&](std::size_t i) { return p[i] - f.rate * (m[i] / d[i]); });
}

}  // namespace

void rounded_sgd_step(NumberFormat format, const Sgd& options, bool first_step, Values gradient,
                      Results parameter, Results velocity, const Workers& workers) {
  assert(gradient.size() == parameter.size() && !options.nesterov);
  assert(options.momentum == 0 || velocity.size() == parameter.size());
  const float rate = narrowed(options.lr), decay = narrowed(options.weight_decay);
  for_blocks(parameter.size(), workers, [&](std::size_t begin, std::size_t count) {
    Block room;
    const Results p = parameter.subspan(begin, count);
    Values change = with_decay(format, decay, gradient.subspan(begin, count), p, room);
    if (options.momentum != 0) {
      const Results v = velocity.subspan(begin, count);
      move(format, options, first_step, change, v);
      change = v;
    }
    each(format, p, [&](std::size_t i) { return p[i] - rate * change[i]; });
  });
}

void rounded_adam_step(NumberFormat format, const Adam& options, std::int64_t step, Values gradient,
                       Results parameter, const AdamMoments& moments, const Workers& workers) {
  assert(step >= 1 && gradient.size() == parameter.size());
  assert(moments.first.size() == parameter.size() && moments.second.size() == parameter.size());
  const AdamFactors factors(options, step);
  for_blocks(parameter.size(), workers, [&](std::size_t begin, std::size_t count) {
    adam_block(format, factors, options.decoupled, gradient.subspan(begin, count),
               parameter.subspan(begin, count), moments.first.subspan(begin, count),
               moments.second.subspan(begin, count));
  });
}

}  // namespace trainscope::host
