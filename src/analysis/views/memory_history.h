// Memory of one GPU over time: what tensors have, role by role, and what the allocator holds. From
// a trace's counters; bytes and nanoseconds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/views/memory_counters.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// Whether the trace counts device memory at all. Looks at its lanes alone.
bool counts_memory(const trace::Trace& trace);

// Launching the work of one phase, by the host's clock: it is the host that asks for memory.
struct HostPhase {
  Nanos start = 0;
  Nanos end = 0;
  trace::Category category = trace::Category::kForward;
};

class MemoryHistory {
 public:
  // Covers the samples that were there. Without a GPU it is the fullest.
  explicit MemoryHistory(const trace::Trace& trace);
  MemoryHistory(const trace::Trace& trace, const MemoryGpu& gpu);

  struct Moment {
    Nanos time = 0;
    double allocated = 0;
    double reserved = 0;          // 0: not counted
    std::vector<double> by_role;  // of roles(), which sum to `allocated`; empty: not counted
  };

  bool empty() const { return moments_.empty(); }
  const std::vector<std::string>& roles() const { return roles_; }  // "parameters"
  const std::vector<Moment>& moments() const { return moments_; }   // by time, one a change
  // When the most was allocated, the first time of several. Not of an empty history.
  const Moment& peak() const { return moments_[peak_]; }
  double most_reserved() const { return most_reserved_; }
  // What held at a time; null before the first.
  const Moment* at(Nanos time) const;

  // Of each of `columns` equal parts of a range the moment with the most allocated; null before the
  // first.
  std::vector<const Moment*> highest(Nanos start, Nanos end, std::size_t columns) const;

  // How many changes had been by then: the time where it counts in changes.
  std::size_t changes_by(Nanos time) const;
  // As highest(), of equal parts of the changes first .. last - 1.
  std::vector<const Moment*> highest_of_changes(std::size_t first, std::size_t last,
                                                std::size_t columns) const;

  const std::vector<HostPhase>& phases() const { return phases_; }  // by start
  // The marks of training steps, by start; empty without any.
  struct Step {
    Nanos start = 0;
    Nanos end = 0;
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  void read_samples(const trace::Trace& trace, const MemoryGpu& gpu);
  void read_steps(const trace::Trace& trace);
  void read_phases(const trace::Trace& trace, const MemoryGpu& gpu);

  std::vector<std::string> roles_;
  std::vector<Moment> moments_;
  std::size_t peak_ = 0;
  double most_reserved_ = 0;
  std::vector<HostPhase> phases_;
  std::vector<Step> steps_;
};

// The roles' numbers from the bottom of a stack to its top: what stays is at the bottom, what comes
// and goes on top of it.
std::vector<std::size_t> stack_order(const std::vector<std::string>& roles);

}  // namespace trainscope::analysis
