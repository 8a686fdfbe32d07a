// Whole numbers in calculations: division that leaves nothing over (blocks of a grid, tiles,
// nodes), and counts in formulas.
#pragma once

#include <cstdint>

namespace trainscope {

// How many of `each` hold `count`: the quotient, rounded up. Both at least 0, `each` not 0.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

// A count, as formulas of doubles take it; exact below 2^53.
constexpr double of(std::int64_t count) {
  return static_cast<double>(count);
}

// The least multiple of `unit` that is not below `value`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace trainscope
