// A trace cut into its steps, so that each is measured at the cost of what is in it.
//
// A part has the spans that touch its step, and what is asked about them: all spans of the same
// calls, whenever they were, the operators around calls of collectives, the spans waited for, and
// what else its streams did since the first of these calls. Of the rest it has what facts and
// metrics ask of a whole trace: whether waits for ranks are told, which collectives never begin,
// whether a stream's work tells its calls, when the first timer was read, how often the allocator
// tried again. Lanes keep their numbers, spans their order; flows, other allocator events and rows
// of training are left out.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>
#include <vector>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

class StepParts {
 public:
  // Of each step the time that is looked at: its window and the marks that belong to it. The trace
  // must outlive this.
  StepParts(const trace::Trace& trace, std::vector<Interval> steps);

  // The part of the first step, then of the one behind it, and so on; null behind the last.
  std::unique_ptr<trace::Trace> next();

 private:
  struct Counter {  // the samples of one lane, by time
    std::vector<Nanos> times;
    std::vector<std::uint32_t> samples;
  };

  void find_calls();
  void widen_to_operators();
  void widen_steps();
  void find_counters();
  void find_witnesses();
  std::unordered_set<std::uint32_t> first_calls_of_streams() const;
  void find_retries();
  std::vector<trace::SpanId> spans_in(const Interval& time);
  std::vector<std::uint32_t> samples_in(const Interval& time) const;
  void widen(std::uint32_t correlation, const Interval& time);
  // With all of its call.
  Interval reach_of(const trace::Span& span) const;
  // Calls visit(step) for those that the time touches.
  template <typename Visit>
  void for_steps(const Interval& time, const Visit& visit) const;

  const trace::Trace& trace_;
  std::vector<Interval> steps_;  // neither starts nor ends descend
  // From the first span of a call to its last, the operator around it included.
  ByCorrelation<Interval> calls_;
  std::vector<Counter> counters_;  // by lane
  std::vector<trace::SpanId> witnesses_;
  std::vector<std::uint32_t> allocator_witnesses_;  // allocator events
  std::size_t step_ = 0;                            // that comes next
  std::vector<trace::SpanId> by_reach_;             // all spans, by when their reach begins
  std::size_t begun_ = 0;            // of them, those that begin by the end of the last step
  std::vector<trace::SpanId> open_;  // of those, the ones that did not end before it
};

}  // namespace trainscope::analysis
