// FSDP's units, and when a GPU has the parameters of each whole: from its all-gather over forward
// or backward to the reduce-scatter of its gradients, and to the all-reduce of what that gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// From one all-gather of a unit to the next. A unit that stays whole after its forward has its
// backward in the same visit.
struct UnitVisit {
  std::size_t unit = 0;  // among UnitTimes::units
  std::optional<Interval> gather;
  std::optional<Interval> forward, backward;  // from its first kernel to the end of its last
  std::optional<Interval> scatter;
  std::optional<Interval> sum;  // with ranks that hold the same part, of hybrid sharding
  // Its parameters are there, or on their way: from the beginning of the gather to the end of what
  // is done with them.
  Interval whole;
};

struct UnitStep {
  std::int64_t number = 0;        // of its ProfilerStep; 0 where a trace has none
  std::vector<UnitVisit> visits;  // by the beginnings of their gathers on the host
  Interval time;                  // of all that they do
};

struct UnitTimes {
  std::vector<std::string> units;  // "root", "block 1": in the order of their first gathers
  std::vector<UnitStep> steps;

  bool empty() const { return steps.empty(); }
  // The step that is under way at a time, or was last; the first before all.
  const UnitStep& at(Nanos time) const;
};

// By the marks that torch.distributed.fsdp.fully_shard sets, of the first rank that has any:
// "FSDP::all_gather (block 1)", "FSDP::all_gather_copy_out", "FSDP::post_forward",
// "FSDP::pre_backward" and "FSDP::post_backward_reduce"; the root's name nothing, or "root". What
// is launched after a unit's copy and before the end of its forward or backward is the unit's, what
// is launched outside of all is the root's. Empty where a trace has none.
UnitTimes unit_times(const trace::Trace& trace);

// Whether there is any of those marks, by the trace's names alone.
bool has_unit_marks(const trace::Trace& trace);

}  // namespace trainscope::analysis
