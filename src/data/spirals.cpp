#include "data/spirals.h"

#include <cassert>
#include <numbers>

#include "data/draws.h"

namespace trainscope::data {
namespace {

constexpr int kArms = 3;
constexpr float kTurns = 0.75F;   // of an arm, from the middle to its end
constexpr float kNoise = 0.025F;  // standard deviation across an arm, in turns
constexpr float kMiddle = 0.05F;  // where arms begin: at 0 they would be one

struct Direction {
  double x;
  double y;
};

// Cosine and sine by their series: platforms round those of the standard library differently.
Direction direction(double turns) {
  const double angle = 2 * std::numbers::pi * turns;
  double cosine = 0, sine = 0, term = 1;
  for (int power = 0; power < 40; ++power) {
    const bool odd = power % 2 == 1;
    (odd ? sine : cosine) += (power / 2 % 2 == 0) ? term : -term;
    term *= angle / (power + 1);
  }
  return {cosine, sine};
}

}  // namespace

SpiralsDataset::SpiralsDataset(Split split, std::uint64_t seed)
    : split_(split), seed_(seed), shape_{2, 1, 1, 0, 1, kArms} {}

std::int64_t SpiralsDataset::size() const {
  return split_ == Split::kTrain ? 3'000 : 600;
}

void SpiralsDataset::read(std::int64_t index, std::span<float> values, std::span<std::int64_t>,
                          std::span<std::int64_t> targets) const {
  assert(index >= 0 && index < size() && values.size() == 2 && targets.size() == 1);
  Draws draws(seed_, stream_of(DrawsOf::kSpirals, split_, index));
  const auto arm = static_cast<int>(draws.below(kArms));
  const float radius = draws.between(kMiddle, 1);
  const float turns = static_cast<float>(arm) / kArms + kTurns * radius + kNoise * draws.normal();
  const Direction out = direction(static_cast<double>(turns));
  values[0] = static_cast<float>(radius * out.x);
  values[1] = static_cast<float>(radius * out.y);
  targets[0] = arm;
}

}  // namespace trainscope::data
