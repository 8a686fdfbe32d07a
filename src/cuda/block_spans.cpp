// The lanes of what SMs hold, in the trace of a measured run.

#include <map>

#include "cuda/sm_load.h"
#include "cuda/trace_writer.h"

namespace trainscope::cuda {

// Of GPU 0, as the simulator's.
void TraceWriter::write_blocks(const std::vector<Activity>& sorted,
                               const std::vector<BlockTrace>& launches) {
  std::map<CallId, const Activity*> kernels;
  for (const Activity& activity : sorted)
    if (activity.kind == ActivityKind::kKernel) kernels[activity.call] = &activity;
  std::vector<TimedBlocks> timed;
  for (const BlockTrace& launch : launches) {
    const auto kernel = kernels.find(launch.call);
    const auto known = calls_.find(launch.call);
    if (kernel == kernels.end() || known == calls_.end() || launch.blocks.empty()) continue;
    const Call& call = *known->second.call;
    if (program_.streams[call.stream].device != 0) continue;
    const int warps = (call.operation->threads + machine::kWarp - 1) / machine::kWarp;
    timed.push_back({at(kernel->second->start), at(kernel->second->end), warps, launch.blocks});
  }
  if (timed.empty()) return;
  recorder_.add_sm_lanes();
  for (const SmLoad& load : sm_load(timed)) recorder_.sample_sms(load.time, load.sms, load.warps);
}

}  // namespace trainscope::cuda
