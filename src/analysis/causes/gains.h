// What could be saved of a run's parts of the time, and what was tried to that end.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "analysis/advice/what_if.h"
#include "analysis/causes/critical_path.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/causes/host_cause.h"

namespace trainscope::analysis {

// By the replays of an imported trace, where they were asked for; else by the critical path, or
// where that does not tell, by what the part takes.
class Gains {
 public:
  // `host`: what that does while the GPU waits for a launch. Of what no faster launches make
  // shorter no replay of them tells.
  Gains(const Run& run, const WhatIf* asked, const HostCause& host);

  // Of a step, ns; `nanos` is what the part takes.
  double of(Part part, double nanos) const;
  bool are_replayed(Part part) const;
  // Whether it is worth telling how fast a run were without the part: no replay says more, and it
  // is not the start of a process beside some steps of work that a trace without steps has.
  bool tell_most(Part part) const;

  // " Replayed (SIMULATED): The next batch is always there: 119 ms a step instead of 178 ms." Of a
  // trace without steps the times are of the whole. Empty where no replay is about the part.
  std::string words(Part part, const Speech& speech) const;

 private:
  const Altered* change_for(Part part) const;

  const WhatIf* replays_ = nullptr;
  bool host_is_elsewhere_ = false;
  bool has_steps_ = false;
  CriticalPath path_;
  bool path_tells_ = false;  // what was waited for, for the most part
};

// What a step is shorter by, ns, were the rank that the others wait for as fast as they: as it was
// tried, or replayed. Nothing where neither was.
std::optional<double> if_ranks_kept_up(const WhatIf& asked);

// What was tried of a run's knobs. Each is told once.
struct Tried {
  explicit Tried(const WhatIf* of) : asked(of && of->of_knobs ? of : nullptr) {}
  const WhatIf* asked;  // null: nothing
  std::set<const Altered*> told;
};

// Puts into the place of a finding's advice what was tried for it, where something was, and beside
// it what no trial tells.
void tell_what_was_tried(const Run& run, Finding& finding, Tried& tried, const Speech& speech);

}  // namespace trainscope::analysis
