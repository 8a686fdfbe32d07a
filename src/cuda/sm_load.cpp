#include "cuda/sm_load.h"

#include <algorithm>
#include <map>

namespace trainscope::cuda {
namespace {

// A block comes to an SM, or goes.
struct Change {
  Nanos time = 0;
  int blocks = 0;  // 1 or -1
  std::uint32_t sm = 0;
  int warps = 0;  // of a block
};

void add_changes(const TimedBlocks& launch, std::vector<Change>& changes) {
  if (launch.blocks.empty()) return;
  const auto first = std::ranges::min(launch.blocks, {}, &BlockRecord::start_ns).start_ns;
  const auto last = std::ranges::max(launch.blocks, {}, &BlockRecord::end_ns).end_ns;
  const auto length = static_cast<double>(launch.end - launch.begin);
  const double scale = last > first ? length / static_cast<double>(last - first) : 0;
  const auto time_of = [&](std::uint64_t clock) {
    return launch.begin + static_cast<Nanos>(static_cast<double>(clock - first) * scale);
  };
  for (const BlockRecord& block : launch.blocks) {
    const std::uint64_t end = std::max(block.start_ns, block.end_ns);
    changes.push_back({time_of(block.start_ns), 1, block.sm, launch.warps});
    changes.push_back({time_of(end), -1, block.sm, launch.warps});
  }
}

}  // namespace

std::vector<SmLoad> sm_load(const std::vector<TimedBlocks>& launches) {
  std::vector<Change> changes;
  for (const TimedBlocks& launch : launches) add_changes(launch, changes);
  std::ranges::stable_sort(changes, {}, &Change::time);

  std::vector<SmLoad> all;
  std::map<std::uint32_t, int> blocks_on;
  std::int64_t warps = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& one = changes[i];
    int& blocks = blocks_on[one.sm];
    blocks += one.blocks;
    if (blocks == 0) blocks_on.erase(one.sm);
    warps += std::int64_t{one.blocks} * one.warps;
    if (i + 1 < changes.size() && changes[i + 1].time == one.time) continue;
    all.push_back({one.time, static_cast<std::int64_t>(blocks_on.size()), warps});
  }
  return all;
}

}  // namespace trainscope::cuda
