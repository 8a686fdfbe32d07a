// What the metrics of a run are computed from, gathered from its trace.
#pragma once

#include <optional>
#include <vector>

#include "analysis/causes/partition.h"
#include "analysis/metrics/learning.h"
#include "analysis/steps/host_time.h"
#include "analysis/steps/measured.h"
#include "analysis/steps/validating.h"
#include "analysis/views/collectives.h"
#include "analysis/views/memory_counters.h"
#include "analysis/views/memory_map.h"
#include "analysis/views/roofline.h"
#include "analysis/views/sm_use.h"

namespace trainscope::analysis {

// Each part is computed once a run.
struct Facts {
  Measured measured;
  Partition partition;
  CopyTimes h2d;
  CopyTimes d2h;
  HostTimes host;
  std::optional<double> epoch;  // ns
  CollectiveTimes collectives;
  Learning learning;
  SmFacts sms;
  Roofline roofline;
  MemoryPeaks peaks;                     // of device memory
  RoleBytes roles;                       // of what is allocated at its peak
  std::optional<Validating> validating;  // of a run; nothing of a step, of which none is a part
};
Facts gather_facts(const trace::Trace& trace, const program::Program* program,
                   const machine::Machine* machine);

// The same from the first event to the last, steps or none: what a trace without steps is measured
// by.
Facts gather_whole_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine);

}  // namespace trainscope::analysis
