// What the metrics of a run are computed from, gathered from its trace.
#pragma once

#include <optional>
#include <vector>

#include "analysis/collectives.h"
#include "analysis/host_time.h"
#include "analysis/learning.h"
#include "analysis/measured.h"
#include "analysis/memory_counters.h"
#include "analysis/memory_map.h"
#include "analysis/partition.h"
#include "analysis/roofline.h"
#include "analysis/sm_use.h"
#include "analysis/validating.h"

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
