// Of a job's ranks those that tell what goes on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/causes/rank_times.h"

namespace trainscope::ui {

// Of many ranks the first, and the one that the others wait for; if that is the first, another.
// Empty where there is one.
inline std::vector<std::int32_t> telling_ranks(const std::vector<analysis::RankTimes>& ranks) {
  if (ranks.size() < 2) return {};
  const auto last = std::ranges::min_element(ranks, {}, &analysis::RankTimes::wait);
  return {ranks.front().rank, last == ranks.begin() ? ranks[1].rank : last->rank};
}

}  // namespace trainscope::ui
