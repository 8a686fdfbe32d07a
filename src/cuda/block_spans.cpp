// What SMs hold at each time, from what kernels wrote of their own blocks.

#include <algorithm>
#include <map>

#include "cuda/trace_writer.h"

namespace trainscope::cuda {
namespace {

// A block comes to an SM, or goes.
struct Change {
  Nanos time = 0;
  int blocks = 0;  // 1 or -1
  std::uint32_t sm = 0;
  int warps = 0;  // of a block
};

}  // namespace

// The device's clock has a zero of its own and, on many GPUs, a step of a microsecond: the first
// block begins where the tracer saw the kernel begin, and the last ends where it saw it end.
void TraceWriter::write_blocks(const std::vector<Activity>& sorted,
                               const std::vector<BlockTrace>& launches) {
  std::map<CallId, const Activity*> kernels;
  for (const Activity& activity : sorted)
    if (activity.kind == ActivityKind::kKernel) kernels[activity.call] = &activity;
  std::vector<Change> changes;
  for (const BlockTrace& launch : launches) {
    const auto kernel = kernels.find(launch.call);
    const auto known = calls_.find(launch.call);
    if (kernel == kernels.end() || known == calls_.end() || launch.blocks.empty()) continue;
    const Call& call = *known->second.call;
    if (program_.streams[call.stream].device != 0) continue;
    const auto first = std::ranges::min(launch.blocks, {}, &BlockStay::start).start;
    const auto last = std::ranges::max(launch.blocks, {}, &BlockStay::end).end;
    const Nanos begin = at(kernel->second->start);
    const auto length = static_cast<double>(kernel->second->end - kernel->second->start);
    const double scale = last > first ? length / static_cast<double>(last - first) : 0;
    const auto time_of = [&](std::uint64_t clock) {
      return begin + static_cast<Nanos>(static_cast<double>(clock - first) * scale);
    };
    const int warps = (call.operation->threads + machine::kWarp - 1) / machine::kWarp;
    for (const BlockStay& block : launch.blocks) {
      changes.push_back({time_of(block.start), 1, block.sm, warps});
      changes.push_back({time_of(std::max(block.start, block.end)), -1, block.sm, warps});
    }
  }
  if (changes.empty()) return;
  std::ranges::stable_sort(changes, {}, &Change::time);
  recorder_.add_sm_lanes();
  std::map<std::uint32_t, int> blocks_on;
  std::int64_t warps = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& one = changes[i];
    int& blocks = blocks_on[one.sm];
    blocks += one.blocks;
    if (blocks == 0) blocks_on.erase(one.sm);
    warps += std::int64_t{one.blocks} * one.warps;
    if (i + 1 < changes.size() && changes[i + 1].time == one.time) continue;
    recorder_.sample_sms(one.time, static_cast<std::int64_t>(blocks_on.size()), warps);
  }
}

}  // namespace trainscope::cuda
