// Max-min fairness in whole numbers: how a capacity is divided among groups of equal tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace trainscope::sim {

struct FairGroup {
  std::int64_t limit = 0;  // of each task, above 0
  std::int64_t tasks = 0;
  std::int64_t rate = 0;  // of each task: the answer
};

// Sorts the groups by limit and gives each its rate: those with the lowest limits first; what they
// leave goes to the others. Groups of one limit count as one, so the answer does not depend on how
// tasks are grouped. Shares are rounded down; no task gets less than 1.
inline void share_fairly(std::int64_t capacity, std::span<FairGroup> groups) {
  std::sort(groups.begin(), groups.end(),
            [](const FairGroup& a, const FairGroup& b) { return a.limit < b.limit; });
  std::int64_t tasks = 0;
  for (const FairGroup& group : groups) tasks += group.tasks;
  for (std::size_t first = 0; first < groups.size();) {
    std::size_t last = first;
    std::int64_t equal = 0;
    while (last < groups.size() && groups[last].limit == groups[first].limit)
      equal += groups[last++].tasks;
    const std::int64_t share = tasks > 0 ? capacity / tasks : 0;
    const std::int64_t rate = std::max<std::int64_t>(1, std::min(groups[first].limit, share));
    for (; first < last; ++first) groups[first].rate = rate;
    capacity = std::max<std::int64_t>(0, capacity - rate * equal);
    tasks -= equal;
  }
}

}  // namespace trainscope::sim
