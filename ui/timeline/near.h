// Searches that cost what the answer is away from a guess, not what there is to search.
#pragma once

#include <algorithm>
#include <cstddef>

namespace trainscope::ui {

// The first position of [from, size) for which `past` holds, or `size`. From some position on it
// holds of all, and before that of none.
template <typename Past>
std::size_t first_past(std::size_t from, std::size_t size, std::size_t guess, const Past& past) {
  std::size_t low = from, high = size;  // the answer is one of [low, high]
  const std::size_t at = std::clamp(guess, from, size);
  if (at == size || past(at)) {
    high = at;
    for (std::size_t step = 1; low < high; step *= 2) {
      const std::size_t probe = high - std::min(step, high - low);
      if (!past(probe)) {
        low = probe + 1;
        break;
      }
      high = probe;
    }
  } else {
    low = at + 1;
    for (std::size_t step = 1; low < high; step *= 2) {
      const std::size_t probe = low + std::min(step, high - low) - 1;
      if (past(probe)) {
        high = probe;
        break;
      }
      low = probe + 1;
    }
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (past(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace trainscope::ui
