// Division of whole numbers that leaves nothing over: blocks of a grid, tiles, nodes.
#pragma once

#include <cstdint>

namespace trainscope {

// How many of `each` hold `count`: the quotient, rounded up. Both at least 0, `each` not 0.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

// The least multiple of `unit` that is not below `value`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace trainscope
