// Kernels that have the SMs of a GPU to themselves, from empty SMs to empty SMs: carried out once,
// looked up for each of the many launches of a training step that are alike.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/sm_array.h"

namespace trainscope::sim {

struct LoneRun {
  // What the SMs hold from a moment on, up to the next one.
  struct Change {
    Nanos time = 0;  // since its start
    int busy = 0;    // SMs
    std::int64_t warps = 0;
  };

  Nanos duration = 0;
  SmUse use;
  std::vector<Change> changes;  // the first at 0

  const Change& at(Nanos time) const;  // the last that is not later
  Nanos after(Nanos time) const;       // the next change, at last the end
};

// Of one kind of GPU. The answers stay where they are.
class LoneRuns {
 public:
  const LoneRun& run(const SmLimits& limits, const SetAside& aside, const BlockCost& cost,
                     std::int64_t blocks);

 private:
  std::map<std::tuple<BlockCost, std::int64_t, SetAside>, LoneRun> runs_;
};

}  // namespace trainscope::sim
