// What the host does while a GPU has nothing to do.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/runs/run.h"

namespace trainscope::analysis {

struct HostCause {
  enum class Kind : std::uint8_t {
    kLaunches,    // it launches, and is behind
    kWaits,       // it launches only once a call that waits for the GPU has returned
    kCall,        // a call of the runtime or the driver that is no launch
    kUnrecorded,  // nothing tells: its operators are not recorded
    kFrame,       // a function of Python's that calls nothing of PyTorch's
    kMark,        // code that calls nothing of it, within a record_function()
    kUntold,      // such code, of which the trace says no more
  };
  Kind kind = Kind::kLaunches;
  double nanos = 0;    // how long it is there, of a step; 0 where it launches, or nothing tells
  std::string name{};  // of the call, that of a wait too, the frame, the mark
  std::string
      caller{};  // of a frame without a file of its own: the function that calls it, if known

  // What the host does there no faster operators and launches make shorter.
  bool is_elsewhere() const {
    return kind != Kind::kLaunches && kind != Kind::kWaits && kind != Kind::kUnrecorded;
  }
};

// While the GPU waits for a launch, which is `idle` ns of a step; `per`: what times are divided by.
// A call, a frame or a mark is named where it takes two fifths of that and more; what the host
// waits for the GPU meanwhile is no part of it. Of a run of a program waits are the cause where
// half of the gaps and more begin in one.
HostCause host_cause(const Run& run, double idle, double per);

// The call of the runtime or the driver, but for launches, that the host is in longest during the
// gaps of that cause; empty: in none.
std::string longest_call(const Run& run, Part cause);

}  // namespace trainscope::analysis
