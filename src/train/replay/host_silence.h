// When nothing is recorded of a rank's host: a process that starts, a program's own code, batches
// that are made ready without a mark.
#pragma once

#include <map>
#include <vector>

#include "trace/trace.h"

namespace trainscope::train {

// What takes the host longer than an operator's Python and launches ever do at a stretch: no faster
// host, and no fewer and larger operators, make it shorter. Assumed. From Python to its launch an
// operator takes 5 to 20 us (the host profile pytorch-eager), under a profiler some times that.
inline constexpr Nanos kLongestOfOperator = kMillisecond;

class HostSilence {
 public:
  explicit HostSilence(const trace::Trace& trace);

  // How much of a time belongs to stretches of more than a millisecond in which no thread of the
  // rank is in an operator, a call, or a load of a batch. Marks, and frames of Python's, are none
  // of these: they say where a program is, and not what its host does.
  Nanos within(int rank, Nanos from, Nanos to) const;

 private:
  struct Stretch {
    Nanos start = 0;
    Nanos end = 0;
  };
  std::map<int, std::vector<Stretch>> of_ranks_;  // ascending
};

}  // namespace trainscope::train
