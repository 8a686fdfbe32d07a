#include "ui/app/views/gpu_bars.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

// Units: pixels at scale 1.
constexpr Bars kOwnRow{BarNames::kOwnRow, 40, 26, 9, 8.5F, 8, 0};
constexpr Bars kBeside{BarNames::kBeside, 18, 24, 9, 8.5F, 8, 0};
constexpr Bars kNamedLines{BarNames::kAtLeft, 5, 8, 2.5F, 4, 3.5F, 0};
constexpr Bars kLines{BarNames::kNone, 5, 8, 2.5F, 4, 3.5F, 0};
constexpr float kGoodCard = 34, kLowCard = 22, kLeastCard = 15;
constexpr float kLeastColumn = 40;  // with names beside
constexpr float kNames = 72;        // of the bars, at their left

Bars scaled(const Bars& bars, float unit, float height) {
  Bars all = bars;
  for (float* length : {&all.bar, &all.gap, &all.way, &all.lane, &all.chip}) *length *= unit;
  if (all.names == BarNames::kOwnRow || all.names == BarNames::kBeside)
    all.gap = std::clamp(height * 0.07F, 10 * unit, all.gap);
  return all;
}

float left_for_cards(const Bars& bars, const Stack& stack, float height) {
  const float used = bars.bar * static_cast<float>(stack.bars) +
                     bars.gap * static_cast<float>(stack.gaps) +
                     bars.rim() * static_cast<float>(stack.rims) + stack.taken;
  return (height - used) / static_cast<float>(stack.rows);
}

}  // namespace

float Bars::rim() const {
  return std::max(0.0F, way + lane + chip + 1 - bar);
}

float room_for_names(const Box& area, float unit, BarNames names, int columns) {
  if (names == BarNames::kAtLeft) return kNames * unit;
  if (names != BarNames::kBeside) return 0;
  const float before =
      (kNames + kBeside.lane + kBeside.chip + 2) * unit;  // the first card's middle
  const float each = (area.width() - before) / (static_cast<float>(columns) - 0.5F);
  return std::max(0.0F, before - each / 2);
}

std::optional<Bars> bars_for(const Box& area, float unit, const Stack& stack) {
  const auto columns_fit = [&](BarNames names) {
    const float room = area.width() - room_for_names(area, unit, names, stack.columns);
    return stack.beside && room / static_cast<float>(stack.columns) >= kLeastColumn * unit;
  };
  const struct {
    const Bars& bars;
    bool allowed;
    float least;
  } ways[] = {{kOwnRow, stack.outside, kGoodCard},
              {kBeside, columns_fit(BarNames::kBeside), kLowCard},
              {kOwnRow, stack.outside, kLowCard},
              {kNamedLines, columns_fit(BarNames::kAtLeft), kLeastCard},
              {kLines, true, kLeastCard}};
  for (const auto& way : ways) {
    Bars bars = scaled(way.bars, unit, area.height());
    bars.card = left_for_cards(bars, stack, area.height());
    if (way.allowed && bars.card >= way.least * unit) return bars;
  }
  return std::nullopt;
}

}  // namespace trainscope::ui
