// What takes a run's time, and what is worth trying: the largest parts of its partition, each with
// what the trace shows of its cause.
#pragma once

#include <string>
#include <vector>

#include "analysis/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

struct Finding {
  Part part = Part::kCompute;
  std::string title;  // what it is, where that is no part of the partition; else empty
  double nanos = 0;   // a step where there are steps, else of the whole window; 0: of no time
  double share = 0;   // of that
  // How many times as fast it would be, were this part alone gone: the others stay, as they might
  // not, and what this one hid may come to light. 0 for kernels, which are the work itself.
  double most_gain = 0;
  std::string why;     // "262 launches a step, and the host is behind with them; itself it is …"
  std::string advice;  // "Try larger batches, torch.compile, CUDA graphs, a fused optimizer."
};

// The largest first: at most three, of at least a twentieth of the time. Kernels are among them
// where they are the largest part. Before them stands the one rank that all others wait for, where
// there is one. Of a run that ended out of memory it is what makes room, alone. Empty where no GPU
// works. They are told in the language of `speech`, and so is their headline.
std::vector<Finding> diagnose(const Run& run, const Speech& speech = {});

// "Waiting for a launch: 170 ms of 222 ms; with that alone gone 4.3 times as fast".
std::string headline(const Finding& finding, const Speech& speech = {});

// "262 launches a step, and the host is behind with them; … Try a larger batch, …"
std::string sentence(const Finding& finding);

}  // namespace trainscope::analysis
