// What takes a run's time, and what is worth trying: the parts of its partition that could save
// most, each with what the trace shows of its cause.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

struct WhatIf;

// A run's knobs turned otherwise, and a step with them, simulated, in ns.
struct Trial {
  std::string settings;  // "precision=bf16 compile.fuse=true"
  double nanos = 0;
  bool other_batch = false;  // the time is of as many samples as a step has without
};

struct Finding {
  Part part = Part::kCompute;
  std::string title;  // what it is, where that is no part of the partition; else empty
  double nanos = 0;   // a step where there are steps, else of the whole window; 0: of no time
  double share = 0;   // of that
  // What could be saved of a step, in ns: what a replay with it turned saves; without one, how long
  // the critical path is in it. Of waits that the path passes by on other ranks, their time.
  double gain = 0;
  // How many times as fast it would be, were this part alone gone: the others stay, as they might
  // not, and what this one hid may come to light. 0 for kernels, which are the work itself, and
  // where a replay says more.
  double most_gain = 0;
  std::string why;     // "262 launches a step, and the host is behind with them; itself it is …"
  std::string advice;  // "Try larger batches, torch.compile, CUDA graphs, a fused optimizer."
  // The same in parts, where something was tried for it: what saved time, those first that saved
  // most, instead of so many ns, and the words that are left.
  std::vector<Trial> trials{};
  double untried = 0;
  std::string beside{};
};

// Those first that could save most: at most three, of at least a twentieth of the time. Kernels are
// among them where they come first. Before them stands the one rank that all others wait for, or
// the rank of a pipeline that has most to do, where there is one. Where batches that were loaded
// ahead hide what a loader's workers take in the long run, that is the one finding. Of a run that
// ended out of memory it is what makes room, alone, and of one that hangs who waits for whom. Empty
// where no GPU works.
//
// With what was asked of the run (what_if), findings are sorted by its replays, those that save
// nothing are left out unless they take half of the time, and advice is of what was tried, with
// what it brought. Else it is what may be worth trying.
//
// They are told in the language of `speech`, and so is their headline. Takes about as long as
// critical_path.
std::vector<Finding> diagnose(const Run& run, const Speech& speech = {},
                              const WhatIf* asked = nullptr);

// "Waiting for a launch: 170 ms of 222 ms; with that alone gone 4.3 times as fast".
std::string headline(const Finding& finding, const Speech& speech = {});

// "262 launches a step, and the host is behind with them; … Try a larger batch, …"
std::string sentence(const Finding& finding);

}  // namespace trainscope::analysis
